//! [`Folder`]: the directory of a store, with its lock, its format version and its free space.

use crate::error::{Result, StoreError};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The version of the format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 2;
const FORMAT_LINE: &str = "percosql store, format ";

/// A directory locked by this process until the value is dropped.
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens and locks the directory, and creates it if it is absent. Errors: `InUse`, `Format`, `Io`.
    pub fn open(path: &Path) -> Result<Folder> {
        let failed = |what: &str, error: std::io::Error| StoreError::Io(format!("{what} {}: {error}", path.display()));
        create(path).map_err(|error| failed("cannot create", error))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join("LOCK"))
            .map_err(|error| failed("cannot write to", error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse(format!("{} is open in another process", path.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed("cannot lock", error)),
        }
        let folder = Folder { path: path.to_owned(), _lock: lock };
        folder.check_format().map_err(|error| match error {
            FormatError::Io(error) => failed("cannot read or write the format of", error),
            FormatError::Other(what) => StoreError::Format(format!("{}: {what}", path.display())),
        })?;
        Ok(folder)
    }

    /// Makes the names in the directory durable. RocksDB syncs the contents of its own directory, but not that
    /// directory's name. Must be called before any write is acknowledged. Errors: `Io`.
    pub fn sync_names(&self) -> Result<()> {
        sync_directory(&self.path)
            .map_err(|error| StoreError::Io(format!("cannot sync {}: {error}", self.path.display())))
    }

    /// The directory of RocksDB's files.
    pub fn database(&self) -> PathBuf {
        self.path.join("rocksdb")
    }

    /// The directory in which SSTables are made before RocksDB ingests them.
    pub fn loads(&self) -> PathBuf {
        self.path.join("load")
    }

    fn check_format(&self) -> std::result::Result<(), FormatError> {
        let file = self.path.join("FORMAT");
        match fs::read(&file) {
            Ok(content) => {
                let text = String::from_utf8_lossy(&content);
                let version = text.strip_prefix(FORMAT_LINE).map(str::trim_end);
                if version.and_then(|version| version.parse().ok()) == Some(FORMAT_VERSION) {
                    return Ok(());
                }
                Err(FormatError::Other(format!(
                    "FORMAT says {:?}, this program needs format {FORMAT_VERSION}",
                    text.lines().next().unwrap_or_default()
                )))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if self.database().exists() {
                    return Err(FormatError::Other("there are files of a store, but no FORMAT".to_owned()));
                }
                // Renamed into place, so a crash leaves a whole file or none.
                let temporary = self.path.join("FORMAT.new");
                let mut new =
                    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
                writeln!(new, "{FORMAT_LINE}{FORMAT_VERSION}")?;
                new.sync_all()?;
                fs::rename(&temporary, &file)?;
                sync_directory(&self.path)?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Creates a directory and its missing ancestors, and makes their names durable.
fn create(path: &Path) -> std::io::Result<()> {
    let path = std::path::absolute(path)?;
    let new: Vec<&Path> = path.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    new.into_iter().filter_map(Path::parent).try_for_each(sync_directory)
}

fn sync_directory(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

enum FormatError {
    Io(std::io::Error),
    Other(String),
}

impl From<std::io::Error> for FormatError {
    fn from(error: std::io::Error) -> Self {
        FormatError::Io(error)
    }
}

/// Bytes that an unprivileged user may still write to the file system that holds `path`.
pub fn free_bytes(path: &std::ffi::CStr) -> std::io::Result<u64> {
    let mut statistics = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` is a valid C string that outlives the call. `statistics` is writable memory of the size of the
    // structure. The call fills it when it answers 0, and only then is it read.
    let statistics = unsafe {
        if libc::statvfs(path.as_ptr(), statistics.as_mut_ptr()) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        statistics.assume_init()
    };
    #[allow(clippy::unnecessary_cast)] // Their types differ between systems.
    Ok((statistics.f_bavail as u64).saturating_mul(statistics.f_frsize as u64))
}
