//! [`Machine`]: the hardware and the kernel, as Linux reports them.

use std::path::Path;

/// The machine and the disk of a comparison.
pub struct Machine {
    /// Processors that this program may use.
    pub cores: usize,
    /// Model name of the processor.
    pub processor: String,
    /// Memory in gigabytes of 2^30 bytes.
    pub memory: f64,
    /// Release of the kernel.
    pub kernel: String,
    /// Type of the file system of the servers' folders.
    pub file_system: String,
}

const UNKNOWN: &str = "unknown";

impl Machine {
    /// Describes this machine, with the file system of a folder.
    pub fn look(folder: &Path) -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        Machine {
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            processor: value(&read("/proc/cpuinfo"), "model name").unwrap_or(UNKNOWN).to_string(),
            memory: kilobytes(&read("/proc/meminfo"), "MemTotal") / 1024.0 / 1024.0,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_string(),
            file_system: file_system(&read("/proc/mounts"), &folder).unwrap_or(UNKNOWN).to_string(),
        }
    }

    /// Whether the folder is on a file system in memory, where a sync has no effect.
    pub fn disk_is_memory(&self) -> bool {
        ["tmpfs", "ramfs"].contains(&self.file_system.as_str())
    }
}

/// The text after a label and a colon.
fn value<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.split_once(':').filter(|(name, _)| name.trim() == label))
        .map(|(_, value)| value.trim())
}

fn kilobytes(text: &str, label: &str) -> f64 {
    value(text, label).and_then(|value| value.split(' ').next()?.parse().ok()).unwrap_or(f64::NAN)
}

/// The type of the file system that is mounted closest above a folder. Of several in one place, the last one hides the
/// others.
fn file_system<'a>(mounts: &'a str, folder: &Path) -> Option<&'a str> {
    let fields = |line: &'a str| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    };
    let above = mounts.lines().filter_map(fields).filter(|(place, _)| folder.starts_with(place));
    above.max_by_key(|(place, _)| place.components().count()).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_mount_counts() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n";
        assert_eq!(file_system(mounts, Path::new("/tmp/here")), Some("tmpfs"));
        assert_eq!(file_system(mounts, Path::new("/tmp/disk/here")), Some("xfs"));
        assert_eq!(file_system(mounts, Path::new("/tmpfolder")), Some("ext4"));
        assert_eq!(file_system("", Path::new("/tmp")), None);
    }

    #[test]
    fn labels_are_found() {
        assert_eq!(kilobytes("MemFree:   5 kB\nMemTotal:       2048 kB\n", "MemTotal"), 2048.0);
        assert!(kilobytes("", "MemTotal").is_nan());
        assert_eq!(value("model name\t: A processor: fast\n", "model name"), Some("A processor: fast"));
    }
}
