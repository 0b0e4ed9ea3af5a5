//! [`claim`]: protects the data directory from other users of the machine, by PostgreSQL's rules. Its mode is 0700, or
//! 0750 for a group that may read it. Another mode or another owner is refused. The umask of the process covers all
//! files below, including RocksDB's.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Mode bits that a data directory must not have: the group may only read, others have no access.
const FORBIDDEN: u32 = 0o027;
/// Mode bits of a group that may read.
const GROUP_READS: u32 = 0o050;

/// Refuses a directory that other users can read or that another user owns. Sets the umask for the files that this
/// process makes in it. The directory may be absent and made afterwards. An empty one is made private, as initdb does.
/// Call this before other threads exist. Errors are sentences for a person.
pub fn claim(folder: &Path) -> Result<(), String> {
    let mode = check(folder, own_user())?;
    set_umask(if mode & GROUP_READS == 0 { 0o077 } else { 0o027 });
    Ok(())
}

/// The mode that the directory has or will have.
fn check(folder: &Path, user: u32) -> Result<u32, String> {
    let name = folder.display();
    let failed = |error: io::Error| format!("cannot use the data directory {name}: {error}");
    let found = match std::fs::metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0o700),
        Err(error) => return Err(failed(error)),
    };
    if !found.is_dir() {
        return Err(format!("the data directory {name} is not a directory"));
    }
    if found.uid() != user {
        return Err(format!(
            "data directory \"{name}\" has wrong ownership\n\
             HINT:  The server must be started by the user that owns the data directory."
        ));
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & FORBIDDEN == 0 {
        return Ok(mode);
    }
    if std::fs::read_dir(folder).map_err(failed)?.next().is_none() {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).map_err(failed)?;
        return Ok(0o700);
    }
    Err(format!(
        "data directory \"{name}\" has invalid permissions\n\
         DETAIL:  Permissions should be u=rwx (0700) or u=rwx,g=rx (0750).\n\
         HINT:  Check that nobody else has changed what is in it, then run: chmod 0700 '{name}'"
    ))
}

/// Refuses a private key that other users can read, as PostgreSQL does. If root owns the key, a group may read it.
/// Errors are sentences for a person.
pub fn check_key(key: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("TLS key {}: {error}", key.display());
    let found = std::fs::metadata(key).map_err(failed)?;
    let forbidden = match found.uid() {
        0 if own_user() != 0 => 0o137,
        _ => 0o177,
    };
    if found.permissions().mode() & forbidden & 0o077 == 0 {
        return Ok(());
    }
    Err(format!(
        "private key file \"{}\" has group or world access\n\
         DETAIL:  File must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) or less if \
         owned by root.",
        key.display()
    ))
}

fn own_user() -> u32 {
    // SAFETY: geteuid takes nothing, touches no memory and always succeeds (geteuid(2)).
    unsafe { libc::geteuid() }
}

fn set_umask(mask: libc::mode_t) {
    // SAFETY: umask takes and answers a number, touches no memory and always succeeds (umask(2)).
    let _ = unsafe { libc::umask(mask) };
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::fs::{Permissions, metadata, set_permissions, write};

    fn mode_of(path: &Path) -> u32 {
        metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("FORMAT"), "x").unwrap();
        for mode in [0o755, 0o701, 0o707, 0o770, 0o720, 0o704, 0o777] {
            set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let refused = check(folder.path(), own_user()).unwrap_err();
            assert!(
                refused.contains("has invalid permissions\nDETAIL:  Permissions should be u=rwx (0700)"),
                "{refused}"
            );
            assert_eq!(mode_of(folder.path()), mode, "it is not changed");
        }
        for mode in [0o700, 0o750, 0o740, 0o710] {
            set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(check(folder.path(), own_user()), Ok(mode));
        }
        let refused = check(folder.path(), own_user() + 1).unwrap_err();
        assert!(refused.contains("has wrong ownership"), "{refused}");
    }

    #[test]
    fn an_empty_directory_is_made_private_and_an_absent_one_may_come() {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(check(folder.path(), own_user()), Ok(0o700));
        assert_eq!(mode_of(folder.path()), 0o700);
        assert_eq!(check(&folder.path().join("absent"), own_user()), Ok(0o700));
        write(folder.path().join("file"), "x").unwrap();
        assert!(check(&folder.path().join("file"), own_user()).unwrap_err().contains("is not a directory"));
        assert!(check(&folder.path().join("file/below"), own_user()).unwrap_err().contains("data directory"));
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        write(&key, "x").unwrap();
        for (mode, private) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o644, false)] {
            set_permissions(&key, Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_key(&key).is_ok(), private, "{mode:o}");
        }
        assert!(check_key(&folder.path().join("absent")).unwrap_err().starts_with("TLS key "));
    }
}
