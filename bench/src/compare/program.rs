//! [`Program`]: a child process that runs to its end. Dropping it stops the process.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Interval between checks for the end of the process.
const LOOK: Duration = Duration::from_millis(5);

/// A running program. Dropping it kills the process.
pub struct Program {
    name: String,
    child: Child,
    _folder: tempfile::TempDir,
    out: PathBuf,
    err: PathBuf,
}

impl Program {
    /// Starts the program. Its output goes to files, because a full pipe without a reader would block it.
    pub fn start(mut command: Command) -> Result<Program> {
        let name = command.get_program().to_string_lossy().into_owned();
        let folder = tempfile::Builder::new().prefix("percosql-bench-").tempdir()?;
        let (out, err) = (folder.path().join("out"), folder.path().join("err"));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?)
            .spawn()
            .map_err(|error| Error::other(format!("{name} cannot be started: {error}")))?;
        Ok(Program { name, child, _folder: folder, out, err })
    }

    /// Waits for the end of the program. Answers its standard output. Errors: the exit code is not 0; the message holds
    /// the last lines of standard error.
    pub async fn end(mut self) -> Result<String> {
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None => tokio::time::sleep(LOOK).await,
            }
        };
        if status.success() {
            return Ok(String::from_utf8_lossy(&std::fs::read(&self.out)?).into_owned());
        }
        let said = std::fs::read(&self.err)?;
        Err(Error::other(format!("{} failed, {status}: {}", self.name, tail(&String::from_utf8_lossy(&said)))))
    }
}

/// The last lines of a program's output, where errors usually are.
pub fn tail(text: &str) -> String {
    const LINES: usize = 5;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("; ")
}

/// Runs a program to its end. Answers its standard output.
pub async fn run(command: Command) -> Result<String> {
    Program::start(command)?.end().await
}

impl Drop for Program {
    fn drop(&mut self) {
        // Killing a program that has ended fails, which is harmless.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_program_said_is_told() {
        let mut well = Command::new("sh");
        well.args(["-c", "echo one; echo two >&2"]);
        assert_eq!(run(well).await.unwrap(), "one\n");
        let mut badly = Command::new("sh");
        badly.args(["-c", "echo one; echo two >&2; exit 3"]);
        let said = run(badly).await.unwrap_err().to_string();
        assert!(said.contains("sh failed") && said.contains("two") && !said.contains("one"), "{said}");
        assert!(run(Command::new("no-such-program")).await.unwrap_err().to_string().contains("cannot be started"));
    }

    #[test]
    fn only_the_last_lines_are_told() {
        assert_eq!(tail("a\n\nb\nc\nd\ne\nf\n"), "b; c; d; e; f");
        assert_eq!(tail(""), "");
    }
}
