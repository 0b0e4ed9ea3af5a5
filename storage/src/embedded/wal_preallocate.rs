//! [`ZeroesAhead`]: keeps zeroes behind the end of the log, so that small writes do not extend the file.
//!
//! If a write extends the file, fdatasync also writes the file's new length and blocks to the file system's journal.
//! An overwrite needs no journal write (bench/history/2026-11-28-log-sync.md has the measurement). PostgreSQL fills its segments with
//! zeroes for the same reason.
//!
//! The zeroes are appended, so they never overwrite a record. RocksDB keeps its own offset in the
//! file, so it overwrites zeroes and never skips them. It truncates the file when it closes it; after
//! a crash, `log_check.rs` does.

use super::wal_recovery::logs;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of zeroes appended at a time.
const AHEAD: usize = 256 << 10;
/// Zeroes are appended when fewer bytes than this are left. About as much is written during the append.
const LEFT: u64 = 64 << 10;
/// If more bytes than this are written between two syncs, no zeroes are appended: they would cost as
/// much as they save.
const SMALL: u64 = 32 << 10;

static ZEROES: [u8; AHEAD] = [0; AHEAD];

/// Appends zeroes to the log ahead of its records. See the module documentation.
pub struct ZeroesAhead {
    directory: PathBuf,
    /// Bytes written to the logs up to the last sync.
    seen: u64,
    /// The value of `written` at which the zeroes end.
    until: u64,
}

impl ZeroesAhead {
    /// For the logs in `directory`, to which this process has written nothing yet.
    pub fn new(directory: &Path) -> ZeroesAhead {
        ZeroesAhead { directory: directory.to_owned(), seen: 0, until: 0 }
    }

    /// Appends zeroes if needed. Called before a sync, which makes the zeroes durable too. `written` is the
    /// total number of bytes that this process has written to the logs. A full disk is no error: the log
    /// then grows without zeroes.
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
        // The newest log: RocksDB writes to it, or did so a moment ago.
        let Some((_, log)) = logs(&self.directory)?.pop() else { return Ok(()) };
        // Opened anew each time, because an open file keeps its space after it is removed.
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
