//! The processor time of a process and its children, as Linux reports it.

/// Processor seconds of a process, its living descendants, and ended children that they waited for. `None` without
/// /proc.
pub fn seconds(pid: u32) -> Option<f64> {
    let mut kids: std::collections::HashMap<u32, Vec<(u32, u64)>> = std::collections::HashMap::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(other) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(stat) = stat(other) {
            kids.entry(stat.parent).or_default().push((other, stat.own + stat.waited_for));
        }
    }
    let root = stat(pid)?;
    let mut ticks = root.own + root.waited_for;
    let mut stack = kids.remove(&pid).unwrap_or_default();
    while let Some((child, used)) = stack.pop() {
        ticks += used;
        stack.extend(kids.remove(&child).unwrap_or_default());
    }
    Some(ticks as f64 / 100.0)
}

/// Processor seconds of this program and its children.
pub fn own() -> f64 {
    seconds(std::process::id()).unwrap_or(0.0)
}

/// Processor seconds of the whole machine since its start, including the time that its host took away. `None` without
/// /proc.
pub fn machine() -> Option<f64> {
    busy(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn busy(stat: &str) -> Option<f64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal. The later fields are part of user.
    let number = |place: usize| ticks.get(place).copied();
    let computed = number(0)? + number(1)? + number(2)? + number(5)? + number(6)? + number(7)?;
    Some(computed as f64 / 100.0)
}

struct Stat {
    parent: u32,
    own: u64,
    waited_for: u64,
}

/// Reads `/proc/PID/stat`. Its ticks are hundredths of a second on every Linux machine.
fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before them is in parentheses and may contain any character.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        waited_for: number(13)? + number(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_not_computing() {
        assert_eq!(busy("cpu  100 20 30 9999 888 4 5 6 50 0\ncpu0 1 2 3"), Some(1.65));
        assert_eq!(busy("cpu  100 20"), None);
        assert_eq!(busy(""), None);
    }

    #[test]
    fn a_process_has_used_something() {
        let before = own();
        let mut sum = 0u64;
        while own() < before + 0.02 {
            sum = std::hint::black_box(sum.wrapping_mul(3).wrapping_add(1));
        }
        assert!(seconds(std::process::id()).is_some_and(|used| used > before));
        assert!(seconds(u32::MAX).is_none());
    }
}
