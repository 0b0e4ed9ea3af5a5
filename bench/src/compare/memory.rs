//! The memory of a process and its children, as Linux reports it.

/// Resident memory of one process, in kilobytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Resident {
    parent: u32,
    anonymous: u64,
    file: u64,
    shared: u64,
}

/// Resident memory of a process and its living descendants, in megabytes of a million bytes. `None` without /proc.
/// Shared program text and shared memory count once, with the value of the process that uses most of it.
pub fn resident(pid: u32) -> Option<f64> {
    let mut all = std::collections::HashMap::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(other) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some(found) = std::fs::read_to_string(entry.path().join("status")).ok().and_then(|text| parse(&text)) {
            all.insert(other, found);
        }
    }
    all.contains_key(&pid).then(|| {
        let own = |mut other: u32| loop {
            if other == pid {
                return true;
            }
            match all.get(&other) {
                Some(found) if found.parent != 0 && found.parent != other => other = found.parent,
                _ => return false,
            }
        };
        sum(all.iter().filter(|(other, _)| own(**other)).map(|(_, found)| *found))
    })
}

fn sum(tree: impl Iterator<Item = Resident>) -> f64 {
    let (mut anonymous, mut file, mut shared) = (0, 0, 0);
    for process in tree {
        anonymous += process.anonymous;
        file = process.file.max(file);
        shared = process.shared.max(shared);
    }
    (anonymous + file + shared) as f64 * 1024.0 / 1e6
}

/// Parses `/proc/PID/status`. `None` for kernel threads, which have no memory.
fn parse(text: &str) -> Option<Resident> {
    let number = |label: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(':'))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Resident {
        parent: u32::try_from(number("PPid")?).ok()?,
        anonymous: number("RssAnon")?,
        file: number("RssFile")?,
        shared: number("RssShmem")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_counts_once() {
        let text = "Name:\tpostgres\nPPid:\t17\nVmRSS:\t   1000 kB\nRssAnon:\t     100 kB\nRssFile:\t  400 kB\nRssShmem:\t 500 kB\n";
        let one = parse(text).unwrap();
        assert_eq!(one, Resident { parent: 17, anonymous: 100, file: 400, shared: 500 });
        let other = Resident { parent: 17, anonymous: 75, file: 300, shared: 600 };
        assert_eq!(sum([one, other].into_iter()), 1175.0 * 1024.0 / 1e6);
        assert!(parse("Name:\tkthreadd\nPPid:\t0\n").is_none());
    }

    #[test]
    fn this_process_has_memory() {
        assert!(resident(std::process::id()).is_some_and(|megabytes| megabytes > 1.0));
        assert!(resident(u32::MAX).is_none());
    }
}
