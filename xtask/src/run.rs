//! Runs other programs and prints to the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A result whose error is a sentence for a person.
pub type Result<T> = std::result::Result<T, String>;

/// The root folder of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// The path as an argument of a program.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Prints a line to standard output.
pub fn say(text: &str) {
    // A closed pipe is the reader's choice, so the error is ignored.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line to standard error.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "error: {text}");
}

/// A command that runs in the workspace's root.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a program to its end. Errors: its exit code is not 0.
pub fn run(program: &str, arguments: &[&str]) -> Result<()> {
    say(&format!("$ {program} {}", arguments.join(" ")));
    finish(command(program, arguments), program)
}

/// Runs a prepared command to its end. Errors: its exit code is not 0.
pub fn finish(mut command: Command, name: &str) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status}")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Whether the PATH contains a program.
pub fn found(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
