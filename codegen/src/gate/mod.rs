//! `pg-codegen gate`: what has to be true of a repository's networks before a change of it is merged.
//!
//! [`mod@file`] is what `gate.toml` may say, [`plan`] what follows from it. [`current`] compares generated crates, a suite answers the
//! rest, and [`told`] is what a person sees of it.

mod current;
mod file;
mod plan;
mod several;
mod told;

use crate::cases::{Allowed, Case, Fault, Sheet};
use crate::error::Error;
use crate::report::write_page;
use crate::suite::{self, Done, Folder};
use clap::Args;
use pg_property::files::{remove, write_atomically};
use pg_runtime::cli::say;
use plan::{FILE, Plan};
use std::path::{Path, PathBuf};

const TEMPLATE: &str = include_str!("../../../templates/ci/gate.toml");

pub const HELP: &str = "\
gate.toml names networks and what has to be true of them; paths are relative to it:

  timeout = 60                       # seconds for each property, unless it has its own
  proofs = true                      # a certificate of each unsat, judged as by pg-check

  [[network]]
  model = \"model/net.onnx\"
  generated = \"verifier\"             # what pg-codegen MODEL -o verifier wrote has to be current
  properties = [\"spec/a.vnnlib\", { file = \"spec/b.vnnlib\", allow = [\"timeout\"] }]

  [[network.robust]]
  image = [\"images/3.csv\", \"images/7.csv\"]
  eps = 0.02
  scale = 255
  clip = [0, 1]

pg-codegen gate --init writes one with everything that it may say. OUT holds junit.xml, summary.md, report/index.html, the
results of a suite in results, certificates, and the cache: verdicts of unchanged content are not searched for again.

Stdout holds pass or fail on its first line.

  exit code
  0          pass
  1          a property is violated, a certificate rejected, generated text not current, or a budget exceeded
  2          something is unknown and may not be, or the run was interrupted
  3          something ran out of time and may not
  4          bad usage or input, or a verifier that crashed";

#[derive(Args, Debug)]
pub struct GateArgs {
    /// What to look at [default: gate.toml]
    #[arg(value_name = "GATE.toml")]
    file: Option<PathBuf>,
    /// Look at one network instead of a file
    #[arg(long, value_name = "NET", conflicts_with = "file", requires = "property")]
    model: Option<String>,
    /// What has to hold of it: VNN-LIB
    #[arg(long, value_name = "PROP", requires = "model", num_args = 1..)]
    property: Vec<String>,
    /// Folder of the results [default: target/gate beside the file]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The most seconds that any instance gets
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<f64>,
    /// Instances to run at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// What may be open, where the file says nothing nearer: unknown, timeout
    #[arg(long, value_name = "WORDS", value_enum, value_delimiter = ',')]
    allow: Vec<Allowed>,
    /// Write a certificate of each unsat and judge it, whatever the file says
    #[arg(long)]
    proofs: bool,
    /// Search for every verdict, and keep none
    #[arg(long)]
    no_cache: bool,
    /// Write a gate.toml to begin with
    #[arg(long, conflicts_with_all = ["model", "output"])]
    init: bool,
    /// Leave stderr to errors
    #[arg(long)]
    quiet: bool,
}

/// Looks at everything, writes what came out, and returns the exit code.
pub fn run(args: &GateArgs) -> Result<u8, Error> {
    if args.init {
        return init(args.file.as_deref().unwrap_or(Path::new(FILE))).map(|()| 0);
    }
    let plan = Plan::new(args)?;
    clear(&plan)?;
    let mut sheet = sheet(&plan);
    plan.write(&sheet)?;
    let mut cases: Vec<Case> = plan.crates.iter().flat_map(|asked| current::look(asked, &plan.runtime)).collect();
    let done = suite::decide(&plan.suite, &plan.list, None)?;
    let instances = plan.list.instances.iter().zip(&done.rows).zip(&plan.allowed);
    cases.extend(instances.map(|((instance, row), allow)| done.case(&plan.suite, instance, row.as_ref(), allow)));
    sheet = Sheet { cases, facts: done.facts(), ..sheet };
    plan.write(&sheet)?;
    plan.page(&done)?;
    println!("{}", if sheet.counts().failed == 0 { "pass" } else { "fail" });
    if !args.quiet {
        say(&told::told(&sheet, &plan.out));
    }
    Ok(exit_code(&sheet.cases))
}

fn init(path: &Path) -> Result<(), Error> {
    if path.exists() {
        return Err(Error::File(format!("{} is there already; it is not written over", path.display())));
    }
    write_atomically(path, TEMPLATE.as_bytes()).map_err(|e| Error::file("write", path, e))?;
    println!("{}", path.display());
    Ok(())
}

/// Removes what an earlier gate left, but for the cache.
fn clear(plan: &Plan) -> Result<(), Error> {
    Folder::clear(&plan.suite.output)?;
    let certificates = plan.out.join("certificates");
    for file in std::fs::read_dir(&certificates).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = file.to_string_lossy();
        if name.ends_with(".pgc") || name.ends_with(".pgc.vnnlib") {
            remove(&file).map_err(|e| Error::file("remove", &file, e))?;
        }
    }
    Ok(())
}

/// Before anything has run.
fn sheet(plan: &Plan) -> Sheet {
    let crates = plan.crates.iter().map(|asked| Case::not_run(&asked.network, &format!("{} is current", asked.name)));
    let instances = plan.list.instances.iter().map(|asked| Case::not_run(&asked.network, &asked.property));
    Sheet { title: "gate".into(), facts: vec![], cases: crates.chain(instances).collect() }
}

impl Plan {
    fn write(&self, sheet: &Sheet) -> Result<(), Error> {
        sheet.write(Some(&self.out.join("junit.xml")), Some(&self.out.join("summary.md")))
    }

    /// The page of what has run, if anything has.
    fn page(&self, done: &Done) -> Result<(), Error> {
        match done.rows.iter().any(Option::is_some) {
            true => write_page(&self.suite.output, &self.out.join("report")),
            false => Ok(()),
        }
    }
}

/// Of the worst that was found: the question, then what is wrong, then what is open.
fn exit_code(cases: &[Case]) -> u8 {
    let code = |fault| match fault {
        Fault::Error => 4,
        Fault::Sat | Fault::Certificate | Fault::Stale | Fault::Budget => 1,
        Fault::Timeout => 3,
        Fault::Unknown | Fault::NotRun => 2,
    };
    let found: Vec<u8> = cases.iter().filter_map(Case::fault).map(code).collect();
    [4, 1, 3, 2].into_iter().find(|code| found.contains(code)).unwrap_or(0)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("not a number of seconds between 0 and 1e9".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Standing;

    #[test]
    fn the_template_is_a_gate() {
        let file = file::File::parse(TEMPLATE, Path::new(FILE)).unwrap();
        assert_eq!(file.network.len(), 1);
        // What it has as comments is as well known: each line whose comment is an entry.
        let entries =
            TEMPLATE.lines().map(|line| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line));
        let whole = entries.map(|line| if line == "# [[network.robust]]" { &line[2..] } else { line });
        let whole: String =
            whole.filter(|line| !line.starts_with("generated = \"")).map(|l| l.to_string() + "\n").collect();
        let file = file::File::parse(&whole, Path::new(FILE)).unwrap();
        assert_eq!((file.network[0].robust.len(), file.network[0].generated.0.len()), (1, 1), "{whole}");
    }

    #[test]
    fn the_worst_decides() {
        let code = |faults: &[Fault]| {
            let case = |fault: &Fault| Case::new("n", "p", Standing::Failed(*fault, String::new()), 0.0);
            exit_code(&faults.iter().map(case).chain([Case::new("n", "q", Standing::Passed, 0.0)]).collect::<Vec<_>>())
        };
        assert_eq!(code(&[]), 0);
        assert_eq!(code(&[Fault::Unknown, Fault::Timeout]), 3);
        assert_eq!(code(&[Fault::Timeout, Fault::Stale]), 1);
        assert_eq!(code(&[Fault::Sat, Fault::Error, Fault::Unknown]), 4);
        assert_eq!(code(&[Fault::NotRun]), 2);
        let allowed = Case::new("n", "p", Standing::Allowed(Fault::Unknown, String::new()), 0.0);
        assert_eq!(exit_code(&[allowed]), 0);
    }
}
