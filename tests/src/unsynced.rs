//! [`Disk`]: the contents of a disk after a crash of the machine, derived from a trace of the server's system calls.
//! Each file keeps only its synced bytes. A name survives only if its folder was synced after the name was made.
//!
//! This is the strictest disk that POSIX allows: unsynced data is lost. Files must be written sequentially, and the
//! test fails for a trace with another order. The exception is zeroes that are appended to a log in advance. Later
//! bytes that overwrite them unsynced read as zeroes after the crash.

use crate::server::make_private;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Arguments of strace that produce the trace for this module.
pub const STRACE: [&str; 9] = [
    "strace",
    "-f",
    "-y",
    "-qq",
    "-s",
    "0",
    "-e",
    "trace=openat,write,writev,pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,ftruncate,mkdir",
    "-o",
];

/// A file, independent of its names.
#[derive(Clone, Copy, Debug, Default)]
struct File {
    now: Extent,
    synced: Extent,
}

/// Written bytes of a file and its length. The bytes between them are zeroes.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    written: u64,
    length: u64,
}

impl Extent {
    fn write(&mut self, bytes: u64) {
        self.written += bytes;
        self.length = self.length.max(self.written);
    }
}

/// The files of a traced server with their synced parts and durable names.
#[derive(Debug, Default)]
pub struct Disk {
    files: Vec<File>,
    /// The names as they are now.
    names: HashMap<PathBuf, usize>,
    /// Names that survive a crash.
    durable: HashMap<PathBuf, usize>,
    /// Unfinished calls by thread: their text, and for a sync the extent of the file at its start.
    begun: HashMap<String, (String, Extent)>,
    /// Descriptors of logs opened for append, through which only zeroes are written.
    ahead: HashSet<String>,
    /// Number of syncs in the trace.
    pub syncs: usize,
}

impl Disk {
    /// Parses a trace that strace wrote with [`STRACE`].
    pub fn from_trace(trace: &str) -> Disk {
        let mut disk = Disk::default();
        for line in trace.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            disk.line(thread, call.trim_start());
        }
        disk
    }

    fn line(&mut self, thread: &str, call: &str) {
        if let Some(begin) = call.strip_suffix(" <unfinished ...>") {
            let extent = descriptor(begin).map_or_else(Extent::default, |path| self.extent(&path));
            self.begun.insert(thread.to_string(), (begin.to_string(), extent));
            return;
        }
        if call.starts_with("<... ") {
            let Some((begin, extent)) = self.begun.remove(thread) else { return };
            let rest = call.split_once(" resumed>").map_or("", |(_, rest)| rest);
            self.done(&format!("{begin}{rest}"), Some(extent));
            return;
        }
        self.done(call, None);
    }

    fn extent(&self, path: &Path) -> Extent {
        self.names.get(path).and_then(|at| self.files.get(*at)).map_or_else(Extent::default, |file| file.now)
    }

    fn file(&mut self, path: &Path) -> usize {
        if let Some(at) = self.names.get(path) {
            return *at;
        }
        self.files.push(File::default());
        self.names.insert(path.to_path_buf(), self.files.len() - 1);
        self.files.len() - 1
    }

    /// Applies a finished call. For a sync, `began_with` is the extent of the file when the call began.
    fn done(&mut self, call: &str, began_with: Option<Extent>) {
        let Some((name, _)) = call.split_once('(') else { return };
        let result = call.rsplit_once(" = ").map_or("", |(_, result)| result);
        let number: i64 = result.split(['<', ' ']).next().and_then(|text| text.parse().ok()).unwrap_or(-1);
        if number < 0 {
            return;
        }
        if name == "openat" {
            let opened = result.split_once('<').map_or("", |(descriptor, _)| descriptor).to_string();
            match call.contains("O_APPEND") && call.contains(".log\"") {
                true => self.ahead.insert(opened),
                false => self.ahead.remove(&opened),
            };
        }
        match name {
            "openat" if call.contains("O_CREAT") || call.contains("O_TRUNC") => {
                let path = result.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
                let Some((path, _)) = path else { return };
                let at = self.file(Path::new(path));
                if call.contains("O_TRUNC") {
                    self.files[at] = File::default();
                }
            }
            "write" | "writev" => {
                let Some(path) = descriptor(call).filter(|path| self.names.contains_key(path)) else { return };
                let at = self.file(&path);
                let number_of = call.split_once('(').and_then(|(_, rest)| rest.split_once('<'));
                let now = &mut self.files[at].now;
                match number_of.is_some_and(|(descriptor, _)| self.ahead.contains(descriptor)) {
                    true => now.length += number.unsigned_abs(),
                    false => now.write(number.unsigned_abs()),
                }
            }
            "pwrite64" | "pwritev" => {
                let Some(path) = descriptor(call).filter(|path| self.names.contains_key(path)) else { return };
                let offset = last_number(call).unwrap_or_else(|| panic!("no offset: {call}"));
                let at = self.file(&path);
                assert_eq!(offset, self.files[at].now.written, "written elsewhere than at the end: {call}");
                self.files[at].now.write(number.unsigned_abs());
            }
            "ftruncate" => {
                let Some(path) = descriptor(call).filter(|path| self.names.contains_key(path)) else { return };
                let length = last_number(call).unwrap_or_else(|| panic!("no length: {call}"));
                let at = self.file(&path);
                self.files[at].now = Extent { written: length, length };
            }
            "fsync" | "fdatasync" => {
                let Some(path) = descriptor(call) else { return };
                self.syncs += 1;
                if let Some(at) = self.names.get(&path).copied() {
                    let file = &mut self.files[at];
                    let now = began_with.unwrap_or(file.now);
                    let Extent { written, length } = file.synced;
                    file.synced = Extent { written: written.max(now.written), length: length.max(now.length) };
                    return;
                }
                // The path is a folder, so its current names become durable.
                self.durable.retain(|name, _| name.parent() != Some(&path));
                let inside = self.names.iter().filter(|(name, _)| name.parent() == Some(&path));
                self.durable.extend(inside.map(|(name, at)| (name.clone(), *at)));
            }
            "link" | "linkat" => {
                let mut words = call.split('"').skip(1).step_by(2);
                let (Some(from), Some(to)) = (words.next(), words.next()) else { return };
                if let Some(at) = self.names.get(Path::new(from)).copied() {
                    self.names.insert(PathBuf::from(to), at);
                }
            }
            "rename" | "renameat" | "renameat2" => {
                let mut words = call.split('"').skip(1).step_by(2);
                let (Some(from), Some(to)) = (words.next(), words.next()) else { return };
                if let Some(at) = self.names.remove(Path::new(from)) {
                    self.names.insert(PathBuf::from(to), at);
                }
            }
            _ => {}
        }
    }

    /// Copies the folder `from`, as the killed server left it, to `to`, as a crash of the machine would leave it.
    /// Answers the numbers of dropped bytes and files.
    pub fn crash(&self, from: &Path, to: &Path) -> (u64, usize) {
        let mut dropped = (0, 0);
        let mut folders = vec![from.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let target = to.join(folder.strip_prefix(from).expect("a folder inside"));
            std::fs::create_dir_all(&target).expect("a folder");
            make_private(&target);
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let content = std::fs::read(&path).expect("a file");
                let Some(at) = self.durable.get(&path) else {
                    dropped = (dropped.0 + content.len() as u64, dropped.1 + 1);
                    continue;
                };
                let Extent { written, length } = self.files[*at].synced;
                let synced = (written as usize).min(content.len());
                dropped.0 += (content.len() - synced) as u64;
                let mut kept = content[..synced].to_vec();
                kept.resize((length as usize).min(content.len()), 0);
                std::fs::write(target.join(entry.file_name()), kept).expect("a copy");
            }
        }
        dropped
    }
}

/// The path that strace's `-y` shows after the first argument.
fn descriptor(call: &str) -> Option<PathBuf> {
    let (_, rest) = call.split_once('<')?;
    let (path, _) = rest.split_once('>')?;
    Some(PathBuf::from(path.trim_end_matches(" (deleted)")))
}

/// The last argument of a finished call. strace fills short lines with spaces before the result.
fn last_number(call: &str) -> Option<u64> {
    let (call, _) = call.rsplit_once(" = ")?;
    call.trim_end().strip_suffix(')')?.rsplit_once(", ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_on_zeroes_and_was_not_synced_is_zeroes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("from");
        std::fs::create_dir_all(&root).expect("a folder");
        std::fs::write(root.join("1.log"), b"abcdefgh\0\0").expect("a log");
        let at = root.to_string_lossy();
        let trace = format!(
            "1 openat(AT_FDCWD</>, \"{at}/1.log\", O_WRONLY|O_CREAT|O_TRUNC) = 3<{at}/1.log>
1 fsync(5<{at}>) = 0
1 write(3<{at}/1.log>, \"\"..., 2) = 2
2 openat(AT_FDCWD</>, \"{at}/1.log\", O_WRONLY|O_APPEND) = 4<{at}/1.log>
2 write(4<{at}/1.log>, \"\"..., 8) = 8
1 write(3<{at}/1.log>, \"\"..., 3) = 3
1 fdatasync(3<{at}/1.log>) = 0
2 openat(AT_FDCWD</>, \"{at}/other\", O_RDONLY) = 4<{at}/other>
1 write(3<{at}/1.log>, \"\"..., 3) = 3"
        );
        let to = folder.path().join("to");
        assert_eq!(Disk::from_trace(&trace).crash(&root, &to), (5, 0));
        assert_eq!(std::fs::read(to.join("1.log")).expect("the log"), b"abcde\0\0\0\0\0");
    }

    #[test]
    fn only_what_was_synced_under_a_synced_name_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("from");
        std::fs::create_dir_all(&root).expect("a folder");
        for (name, content) in
            [("log", "0123456789"), ("new", "xyz"), ("CURRENT", "manifest"), ("loaded", "ab"), ("late", "ab")]
        {
            std::fs::write(root.join(name), content).expect("a file");
        }
        let at = root.to_string_lossy();
        let trace = format!(
            "1 openat(AT_FDCWD</>, \"{at}/log\", O_CREAT) = 3<{at}/log>
             1 openat(AT_FDCWD</>, \"{at}/tmp\", O_CREAT) = 4<{at}/tmp>
             1 write(4<{at}/tmp>, \"\"..., 8) = 8
             1 fdatasync(4<{at}/tmp>) = 0
             1 rename(\"{at}/tmp\", \"{at}/CURRENT\") = 0
             1 fsync(5<{at}>) = 0
             1 openat(AT_FDCWD</>, \"{at}/load\", O_CREAT) = 7<{at}/load>
             1 write(7<{at}/load>, \"\"..., 2) = 2
             1 fsync(7<{at}/load>) = 0
             1 link(\"{at}/load\", \"{at}/loaded\") = 0
             1 fsync(5<{at}>) = 0
             1 link(\"{at}/load\", \"{at}/late\") = 0
             1 openat(AT_FDCWD</>, \"{at}/new\", O_CREAT) = 6<{at}/new>
             1 write(6<{at}/new>, \"\"..., 3) = 3
             1 fsync(6<{at}/new>) = 0
             1 write(3<{at}/log>, \"\"..., 4) = 4
             1 fdatasync(3<{at}/log> <unfinished ...>
             2 write(3<{at}/log>, \"\"..., 6) = 6
             1 <... fdatasync resumed>) = 0
             1 fdatasync(3<{at}/log>) = -1 EIO (Input/output error)
             1 ftruncate(6<{at}/new>, 3 <unfinished ...>
             1 <... ftruncate resumed>)    = 0"
        );
        let lines: Vec<&str> = trace.lines().map(str::trim_start).collect();
        let to = folder.path().join("to");
        assert_eq!(Disk::from_trace(&lines.join("\n")).crash(&root, &to), (6 + 3 + 2, 2));
        assert_eq!(std::fs::read(to.join("log")).expect("the log"), b"0123");
        assert_eq!(std::fs::read(to.join("CURRENT")).expect("it was synced"), b"manifest");
        assert_eq!(std::fs::read(to.join("loaded")).expect("its other name was synced"), b"ab");
        assert!(!to.join("new").exists() && !to.join("late").exists(), "their folder was not synced since");
    }
}
