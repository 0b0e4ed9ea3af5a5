//! The memory limit of this process: the machine's memory, or the smaller limit of its control group or of an enclosing
//! group. See the kernel's guides `cgroup-v1/memory` and `cgroup-v2`.

use std::path::{Path, PathBuf};

/// Limit in bytes if the system reports none.
const UNKNOWN: usize = 4 << 30;

/// The limit of this process, in bytes.
pub(crate) fn of_this_process() -> usize {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let physical = read(Path::new("/proc/meminfo")).and_then(|text| physical(&text));
    let groups = read(Path::new("/proc/self/cgroup")).zip(read(Path::new("/proc/self/mountinfo")));
    let group = groups.and_then(|(groups, mounts)| group(&groups, &mounts, read));
    [physical, group].into_iter().flatten().min().unwrap_or(UNKNOWN)
}

fn physical(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// A hierarchy of control groups with a memory controller.
struct Hierarchy {
    /// Mount point of the hierarchy.
    folder: PathBuf,
    /// The group that the mount shows as its root.
    top: PathBuf,
    /// Name of the file that holds a group's limit.
    file: &'static str,
}

/// The hierarchy in a line of `mountinfo`: version 2, or version 1 with the memory controller.
fn hierarchy(mount: &str) -> Option<Hierarchy> {
    let (place, kind) = mount.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (top, folder) = (place.next()?.into(), place.next()?.into());
    let mut kind = kind.split(' ');
    let file = match kind.next()? {
        "cgroup2" => "memory.max",
        "cgroup" if kind.nth(1)?.split(',').any(|option| option == "memory") => "memory.limit_in_bytes",
        _ => return None,
    };
    Some(Hierarchy { folder, top, file })
}

/// The group of this process in a hierarchy, from the lines of `/proc/self/cgroup`.
fn own_group<'a>(groups: &'a str, hierarchy: &Hierarchy) -> Option<&'a str> {
    let of_version_1 = hierarchy.file != "memory.max";
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let found =
            if of_version_1 { controllers.split(',').any(|name| name == "memory") } else { controllers.is_empty() };
        found.then_some(path)
    })
}

/// The smallest limit among the groups of this process, from its own up to the root.
fn group(groups: &str, mounts: &str, read: impl Fn(&Path) -> Option<String>) -> Option<usize> {
    let limits = mounts.lines().filter_map(hierarchy).filter_map(|hierarchy| {
        let group = Path::new(own_group(groups, &hierarchy)?);
        // A group outside the mounted part appears as the root of the mount.
        let inner = group.strip_prefix(&hierarchy.top).unwrap_or(Path::new(""));
        let folder = hierarchy.folder.join(inner);
        let around = folder.ancestors().take_while(|folder| folder.starts_with(&hierarchy.folder));
        around.filter_map(|folder| read(&folder.join(hierarchy.file))?.trim().parse::<usize>().ok()).min()
    });
    limits.min()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn limit(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<usize> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(format!("{}\n", found.1))
        };
        group(groups, mounts, read)
    }

    #[test]
    fn a_group_of_version_2_and_those_around_it_limit() {
        let mounts = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        let files = [
            ("/sys/fs/cgroup/system.slice/memory.max", "2147483648"),
            ("/sys/fs/cgroup/system.slice/db.service/memory.max", "max"),
        ];
        assert_eq!(limit("0::/system.slice/db.service\n", mounts, &files), Some(2 << 30));
        assert_eq!(limit("0::/\n", mounts, &files), None);
        let own = [files[0], ("/sys/fs/cgroup/system.slice/db.service/memory.max", "1000000")];
        assert_eq!(limit("0::/system.slice/db.service\n", mounts, &own), Some(1_000_000));
    }

    #[test]
    fn a_group_of_version_1_limits_beside_an_empty_version_2() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let files = [
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/box/one/memory.limit_in_bytes", "500000000"),
        ];
        assert_eq!(limit("8:pids:/\n4:memory:/box/one\n0::/\n", mounts, &files), Some(500_000_000));
        assert_eq!(limit("4:memory:/box\n", mounts, &files), Some(9_223_372_036_854_771_712));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_top() {
        let mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory";
        let files = [("/sys/fs/cgroup/memory/memory.limit_in_bytes", "300000000")];
        assert_eq!(limit("4:memory:/docker/abc\n", mounts, &files), Some(300_000_000));
        assert_eq!(limit("4:memory:/other\n", mounts, &files), Some(300_000_000));
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        assert_eq!(physical("MemFree: 1 kB\nMemTotal:       2048 kB\n"), Some(2 << 20));
        assert!(of_this_process() > 1 << 20);
    }
}
