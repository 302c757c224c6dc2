//! Completions and the manual, from the command line itself.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pg-codegen")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The subcommands, as the help lists them.
fn subcommands() -> Vec<String> {
    let help = stdout(&run(&["--help"]));
    let (_, listed) = help.split_once("Commands:\n").expect("a list of commands");
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|&name| name != "help").map(String::from).collect()
}

#[test]
fn every_command_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man");
    let output = run(&["man", &pages.display().to_string()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    let commands = subcommands();
    assert!(commands.iter().any(|name| name == "verify"), "{commands:?}");
    let mut names: Vec<String> = commands.iter().map(|name| format!("pg-codegen-{name}.1")).collect();
    names.push("pg-codegen.1".into());
    names.sort();
    let mut found: Vec<String> =
        fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, names);
    let verify = fs::read_to_string(pages.join("pg-codegen-verify.1")).unwrap();
    assert!(verify.contains("timeout") && verify.contains("exit code"), "{verify}");
}

#[test]
fn a_page_that_cannot_be_written_is_a_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "mine").unwrap();
    let refused = run(&["man", &file.display().to_string()]);
    assert_eq!((refused.status.code(), stdout(&refused).as_str()), (Some(4), ""));
    assert!(stderr(&refused).contains("cannot write"), "{}", stderr(&refused));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(run(&["completions", "edlin"]).status.code(), Some(4));
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", stderr(&output));
        for command in subcommands() {
            assert!(stdout(&output).contains(&command), "{shell}: {command}");
        }
    }
}

#[test]
fn bash_reads_its_completions() {
    let script = stdout(&run(&["completions", "bash"]));
    let Ok(mut bash) = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        eprintln!("skipped: there is no bash");
        return;
    };
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    // What it offers for the beginning of a command.
    let ask = format!(
        "{script}\nCOMP_WORDS=(pg-codegen ver); COMP_CWORD=1; _pg__codegen pg-codegen ver pg-codegen; echo \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["-c", &ask]).output().unwrap();
    assert_eq!(stdout(&output).trim(), "verify", "{}", stderr(&output));
}
