//! One instance in a process of its own, which neither a crash nor a search without end can leave.

use super::record::{Outcome, Word};
use pg_runtime::verdict::StopReason;
use serde_json::Value;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long after its limit a verifier is killed. It gives up a search that does not stop three seconds after the limit,
/// and needs time to say so.
const GRACE: Duration = Duration::from_secs(5);
/// How soon after a verifier the suite itself is ended, by those who end all processes of a job.
const MOMENT: Duration = Duration::from_secs(1);
/// Hang-up, interrupt, kill and terminate: signals that others send, while those of a crash are the verifier's own.
const SENT: [i32; 4] = [1, 2, 9, 15];
/// A verifier's exit codes that are verdicts, in order.
const VERDICTS: [Word; 4] = [Word::Unsat, Word::Sat, Word::Unknown, Word::Timeout];
/// The most of stderr that is kept, from its end.
const KEPT: usize = 2000;

/// A process to run, and how long.
#[derive(Debug)]
pub struct Task {
    pub command: Command,
    pub limit: f64,
    /// Where the process writes its report, and what becomes of its stderr: both are gone afterwards.
    pub report: PathBuf,
    pub stderr: PathBuf,
}

enum Ending {
    Exited(ExitStatus),
    Overdue,
    Stopped,
}

impl Task {
    /// Runs the process to its end and judges what is left of it; `None` if `stop` was raised before.
    pub fn run(mut self, stop: &AtomicBool) -> io::Result<Option<Outcome>> {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&self.stderr)?);
        // In a group of its own, a terminal's Ctrl-C reaches only the suite, which then stops its processes itself.
        self.command.process_group(0);
        let start = Instant::now();
        let mut child = match self.command.spawn() {
            Ok(child) => child,
            Err(e) => return Ok(Some(Outcome::refused(format!("the verifier could not be started: {e}")))),
        };
        let allowed = Duration::from_secs_f64(self.limit) + GRACE;
        let ending = wait(&mut child, start, allowed, stop)?;
        let seconds = start.elapsed().as_secs_f64();
        let said = tail(&self.stderr);
        let report = std::fs::read(&self.report).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        for file in [&self.report, &self.stderr] {
            let _ = std::fs::remove_file(file);
        }
        let is_stopped = || stop.load(Ordering::Relaxed);
        Ok(match ending {
            Ending::Stopped => None,
            Ending::Exited(status) if was_ended(status, report.as_ref()) && wait_for(MOMENT, is_stopped) => None,
            Ending::Overdue => {
                let trouble = format!("killed {} s after its limit{said}", GRACE.as_secs());
                Some(Outcome { verdict: Word::Timeout, seconds, trouble: Some(trouble), report })
            }
            Ending::Exited(status) => {
                let (verdict, trouble) = judge(status, report.as_ref());
                Some(Outcome { verdict, seconds, trouble: trouble.map(|what| what + &said), report })
            }
        })
    }
}

/// Looks at the process at intervals that are small beside the time it has taken.
fn wait(child: &mut Child, start: Instant, allowed: Duration, stop: &AtomicBool) -> io::Result<Ending> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Exited(status));
        }
        let elapsed = start.elapsed();
        let is_stopped = stop.load(Ordering::Relaxed);
        if is_stopped || elapsed >= allowed {
            child.kill()?;
            child.wait()?;
            return Ok(if is_stopped { Ending::Stopped } else { Ending::Overdue });
        }
        std::thread::sleep((elapsed / 50).clamp(Duration::from_micros(500), Duration::from_millis(20)));
    }
}

/// Whether somebody else ended the process. Who ends all processes of a job means no instance of its own: that the suite is
/// told to stop is then a matter of a moment.
fn was_ended(status: ExitStatus, report: Option<&Value>) -> bool {
    let reason = report.and_then(|report| report.get("reason")?.as_str());
    status.signal().is_some_and(|signal| SENT.contains(&signal)) || reason == Some(&StopReason::Interrupted.to_string())
}

/// Whether something comes to be, within this time.
fn wait_for(most: Duration, is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() && start.elapsed() < most {
        std::thread::sleep(Duration::from_millis(10));
    }
    is_so()
}

/// A verdict counts if exit code and report agree on it; anything else is an error.
fn judge(status: ExitStatus, report: Option<&Value>) -> (Word, Option<String>) {
    let told = status.code().and_then(|code| VERDICTS.get(usize::try_from(code).ok()?).copied());
    let written = report.and_then(|report| Word::parse(report.get("verdict")?.as_str()?));
    let trouble = match (told, written) {
        (Some(told), Some(written)) if told == written => return (told, None),
        (Some(told), Some(written)) => format!("its exit code says {told}, its report {written}"),
        (Some(told), None) => format!("its exit code says {told}, but there is no report"),
        (None, _) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("ended by signal {}", signal.unwrap_or_default()),
        },
    };
    (Word::Error, Some(trouble))
}

/// The last words on stderr, after a colon.
fn tail(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(KEPT)..]).trim().to_string();
    if text.is_empty() { text } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a shell script that may write to `$1`, the report.
    fn run(script: &str, limit: f64, stop: bool) -> Option<Outcome> {
        let dir = tempfile::tempdir().unwrap();
        let (report, stderr) = (dir.path().join("report"), dir.path().join("stderr"));
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(&report);
        let outcome = Task { command, limit, report, stderr }.run(&AtomicBool::new(stop)).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
        outcome
    }

    fn judged(script: &str) -> (Word, String) {
        let outcome = run(script, 60.0, false).unwrap();
        (outcome.verdict, outcome.trouble.unwrap_or_default())
    }

    #[test]
    fn exit_code_and_report_must_agree() {
        let said = |word: &str, code| judged(&format!("echo '{{\"verdict\": \"{word}\"}}' >$1; exit {code}"));
        assert_eq!(said("unsat", 0), (Word::Unsat, String::new()));
        assert_eq!(said("sat", 1), (Word::Sat, String::new()));
        assert_eq!(said("timeout", 3), (Word::Timeout, String::new()));
        assert_eq!(said("unsat", 1), (Word::Error, "its exit code says sat, its report unsat".into()));
        assert_eq!(judged("exit 0"), (Word::Error, "its exit code says unsat, but there is no report".into()));
    }

    #[test]
    fn a_crash_is_an_error_with_its_last_words() {
        assert_eq!(judged("echo boom >&2; exit 101"), (Word::Error, "exit code 101: boom".into()));
        assert_eq!(judged("kill -9 $$"), (Word::Error, "ended by signal 9".into()));
        let missing = Command::new("/nowhere/verifier");
        let dir = tempfile::tempdir().unwrap();
        let task = Task { command: missing, limit: 1.0, report: "/nowhere".into(), stderr: dir.path().join("stderr") };
        let outcome = task.run(&AtomicBool::new(false)).unwrap().unwrap();
        assert!(outcome.trouble.unwrap().starts_with("the verifier could not be started"));
    }

    #[test]
    fn a_process_that_does_not_end_is_ended() {
        let start = Instant::now();
        assert!(run("exec sleep 60", 60.0, true).is_none(), "the suite was stopped");
        let outcome = run("exec sleep 60", 0.0, false).unwrap();
        assert_eq!((outcome.verdict, outcome.trouble.as_deref()), (Word::Timeout, Some("killed 5 s after its limit")));
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
