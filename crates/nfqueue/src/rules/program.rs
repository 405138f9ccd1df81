//! Runs firewall programs.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Output, Stdio};
use std::thread;

/// Why a program did not do what it was run for.
#[derive(Debug)]
pub(super) struct Failure {
    program: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    /// It cannot be run.
    Missing(io::Error),
    /// It has rejected its input.
    Rejected(String),
}

impl Failure {
    /// Returns whether the program is not installed.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self.reason, Reason::Missing(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Missing(error) => write!(f, "{}: {error}", self.program),
            Reason::Rejected(message) => write!(f, "{}: {message}", self.program),
        }
    }
}

/// Runs `program` with `input`, and returns its output if it succeeds.
pub(super) fn run(program: &str, arguments: &[&str], input: &str) -> Result<String, Failure> {
    let failure = |reason| Failure { program: program.to_owned(), reason };
    let output = output(program, arguments, input).map_err(|e| failure(Reason::Missing(e)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failure(Reason::Rejected(essence(program, &message))))
}

fn output(program: &str, arguments: &[&str], input: &str) -> io::Result<Output> {
    let mut command = Command::new(program);
    // It may be in a folder that is only in root's PATH.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin")).env("LC_ALL", "C");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    let mut stderr = child.stderr.take();
    thread::scope(|scope| {
        let errors = scope.spawn(move || {
            let mut text = Vec::new();
            if let Some(stderr) = &mut stderr {
                let _ = stderr.read_to_end(&mut text);
            }
            text
        });
        scope.spawn(move || {
            // A program that has ended already has an error message.
            stdin.as_mut().map(|stdin| stdin.write_all(input.as_bytes()))
        });
        let mut output = child.wait_with_output()?;
        output.stderr = errors.join().unwrap_or_default();
        Ok(output)
    })
}

/// Returns the line of a message that has its reason, without the program's name.
fn essence(program: &str, message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| {
        !line.is_empty()
            && !line.starts_with('#')
            && !line.starts_with("Try `")
            && !line.starts_with("Error occurred")
    });
    let Some(line) = lines.into_iter().next() else { return "failed without a message".into() };
    // "iptables-restore v1.8.9 (legacy): ..." or "/dev/stdin:5:1-2: Error: ..."
    let line = line.strip_prefix(program).unwrap_or(line);
    line.split_once(": ").map_or(line, |(_, rest)| rest).trim().to_owned()
}
