//! [`deeper`]: a stack that suffices for trees of any depth.

/// Below this many free bytes the stack grows.
const RED_ZONE: usize = 256 << 10;
/// By so many bytes.
const GROWTH: usize = 4 << 20;

/// Runs `work` on a stack that suffices. Every function that calls itself for the parts of a tree goes through here.
pub fn deeper<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, GROWTH, work)
}
