//! [`ZeroesAhead`]: keeps zeroes behind the end of the log, so that small writes fall into the file.
//!
//! A file that grows has its length, and where its blocks lie, written to the file system's journal by every fdatasync; one
//! whose bytes change has not (bench/history/2026-11-28-log-sync.md). PostgreSQL fills its segments with zeroes for the
//! same reason.
//!
//! They are appended, so none can fall on anything written: whether RocksDB, which keeps its own place in the file, reaches the
//! end first or they do, what it writes is what is read there. It cuts the file where it ended when it closes it; after a crash
//! `log_check.rs` does.

use super::log_check::logs;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// As many bytes are appended at a time.
const AHEAD: usize = 256 << 10;
/// More are appended when fewer than this are left: about what is written while they are.
const LEFT: u64 = 64 << 10;
/// Who writes more than this between two syncs makes the file grow: the zeroes would cost as much as they spare.
const SMALL: u64 = 32 << 10;

static ZEROES: [u8; AHEAD] = [0; AHEAD];

/// See the head of the module.
pub struct ZeroesAhead {
    directory: PathBuf,
    /// Bytes written at the last sync.
    seen: u64,
    /// As many bytes will be written where the zeroes end.
    until: u64,
}

impl ZeroesAhead {
    /// For the logs in a directory, to which nothing was written yet.
    pub fn new(directory: &Path) -> ZeroesAhead {
        ZeroesAhead { directory: directory.to_owned(), seen: 0, until: 0 }
    }

    /// Before a sync, which makes them durable, too: `written` bytes are in the logs, this opening's all together. That space is
    /// wanting is no error: the log grows without them.
    pub fn before_sync(&mut self, written: u64) {
        let since = written.saturating_sub(std::mem::replace(&mut self.seen, written));
        if since > SMALL || written + LEFT < self.until {
            return;
        }
        self.until = self.until.max(written) + AHEAD as u64;
        if let Err(error) = self.append() {
            tracing::debug!(%error, "no zeroes ahead of the log");
        }
    }

    fn append(&self) -> io::Result<()> {
        // That RocksDB writes to, or wrote to a moment ago.
        let Some((_, log)) = logs(&self.directory)?.pop() else { return Ok(()) };
        // Opened anew each time: whoever keeps a file open keeps the space of one that was removed.
        OpenOptions::new().append(true).open(log)?.write_all(&ZEROES)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn zeroes_are_appended_to_the_newest_log_while_writes_are_small() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("000007.log"), folder.path().join("000012.log"));
        fs::write(&old, "old").unwrap();
        fs::write(folder.path().join("000099.sst"), "table").unwrap();
        let mut ahead = ZeroesAhead::new(folder.path());
        let length = |path: &Path| fs::metadata(path).unwrap().len();
        ahead.before_sync(100);
        assert_eq!(length(&old), 3 + AHEAD as u64);
        fs::write(&new, "new").unwrap();
        ahead.before_sync(200);
        assert_eq!(length(&new), 3, "there are enough");
        let nearly = AHEAD as u64 + 100 - LEFT;
        ahead.before_sync(nearly);
        assert_eq!(length(&new), 3, "much was written");
        ahead.before_sync(nearly + 1);
        assert_eq!((length(&old), length(&new)), (3 + AHEAD as u64, 3 + AHEAD as u64));
        assert_eq!(&fs::read(&new).unwrap()[..5], b"new\0\0");
        fs::remove_dir_all(folder.path()).unwrap();
        ahead.before_sync(10 * AHEAD as u64);
        ahead.before_sync(10 * AHEAD as u64);
    }
}
