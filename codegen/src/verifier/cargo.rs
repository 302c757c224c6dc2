//! One run of cargo: how loud it is, how much it does at a time, and how it is ended.

use crate::error::Error;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a run is asked whether it has ended.
const TICK: Duration = Duration::from_millis(10);

/// How a crate is built.
#[derive(Clone, Copy, Debug)]
pub struct Cargo<'a> {
    /// Whether it tells on stderr what it does. If not, its words are part of the error if it fails.
    pub aloud: bool,
    /// How many compilers run at a time, if not as many as there are cores.
    pub jobs: Option<usize>,
    /// Ends the run when it is raised.
    pub stop: Option<&'a AtomicBool>,
}

impl Cargo<'_> {
    /// Tells what it does, takes all cores and is left alone.
    pub const ALOUD: Cargo<'static> = Cargo { aloud: true, jobs: None, stop: None };

    /// Builds the crate in `dir` in release mode, with all that it needs, in the folder `cache`, and returns the path of its
    /// binary there.
    pub fn build(&self, dir: &Path, cache: &Path) -> Result<PathBuf, Error> {
        let mut command = self.command(dir, cache);
        let mut child = command.spawn().map_err(|e| Error::Build(format!("cannot run cargo: {e}")))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (status, messages, words) = std::thread::scope(|scope| {
            let messages = scope.spawn(|| text(stdout));
            let words = scope.spawn(|| text(stderr));
            let status = self.wait(&mut child);
            (status, messages.join().expect("a reader"), words.join().expect("a reader"))
        });
        let status = status.map_err(|e| Error::Build(format!("cannot wait for cargo: {e}")))?;
        if !status.success() {
            let words = if words.is_empty() { words } else { format!("\n{}", words.trim_end()) };
            return Err(Error::Build(format!("cargo could not build {}: {status}{words}", dir.display())));
        }
        let executable = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            message.get("executable")?.as_str().map(PathBuf::from)
        };
        messages.lines().rev().find_map(executable).ok_or_else(|| Error::Build("cargo named no binary".into()))
    }

    fn command(&self, dir: &Path, cache: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--message-format=json-render-diagnostics", "--manifest-path"]);
        cargo.arg(dir.join("Cargo.toml")).arg("--target-dir").arg(cache);
        cargo.stdin(Stdio::null()).stdout(Stdio::piped());
        if !self.aloud {
            cargo.arg("--quiet").stderr(Stdio::piped());
        }
        if let Some(jobs) = self.jobs {
            cargo.args(["--jobs", &jobs.to_string()]);
        }
        cargo
    }

    /// Waits for the end, and makes it come if the run is to stop.
    fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let Some(stop) = self.stop else { return child.wait() };
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if stop.load(Ordering::Relaxed) {
                child.kill()?;
                return child.wait();
            }
            std::thread::sleep(TICK);
        }
    }
}

fn text(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before a pipe broke is still worth having.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
