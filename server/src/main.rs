//! The `percosql` command. Chooses nothing and knows nothing: see [`percosql::cli`].

/// Plans and rows are made of many small pieces that one thread makes and another lets go; glibc's allocator waits for its own
/// locks then.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    keep_pages_small();
    percosql::cli::main()
}

/// Asks Linux for no pages of 2 MB. The allocator would ask for them, and they are cleared in whole at the first touch of any part: of
/// the first COPY of a million rows that took half the processor time, and a quarter of the memory at rest was never used. Point reads
/// take as long with them as without. Where the kernel refuses, nothing but that is lost.
#[cfg(target_os = "linux")]
fn keep_pages_small() {
    // SAFETY: this option of prctl takes numbers alone and touches no memory of ours (prctl(2), PR_SET_THP_DISABLE).
    let _ = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

#[cfg(not(target_os = "linux"))]
fn keep_pages_small() {}
