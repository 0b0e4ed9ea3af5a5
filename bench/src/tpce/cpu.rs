//! The processor time of a process and its children, as Linux tells it. Must not know what they do.

/// Seconds that a process, its living children and those it waited for have used; nothing where there is no /proc.
pub fn seconds(pid: u32) -> Option<f64> {
    let mut kids: std::collections::HashMap<u32, Vec<(u32, u64)>> = std::collections::HashMap::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(other) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(stat) = stat(other) {
            kids.entry(stat.parent).or_default().push((other, stat.own));
        }
    }
    let root = stat(pid)?;
    let mut ticks = root.own + root.waited_for;
    let mut stack = kids.remove(&pid).unwrap_or_default();
    while let Some((child, own)) = stack.pop() {
        ticks += own;
        stack.extend(kids.remove(&child).unwrap_or_default());
    }
    Some(ticks as f64 / 100.0)
}

/// Those of this program.
pub fn own() -> f64 {
    seconds(std::process::id()).unwrap_or(0.0)
}

struct Stat {
    parent: u32,
    own: u64,
    waited_for: u64,
}

/// Ticks of a hundredth of a second, which Linux counts in on every machine there is.
fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before stands in brackets and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        waited_for: number(13)? + number(14)?,
    })
}
