//! The `percosql` command. Chooses nothing and knows nothing: see [`percosql::cli`].

/// Plans and rows are made of many small pieces that one thread makes and another lets go; glibc's allocator waits for its own
/// locks then.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often memory that was let go is given back.
const GIVING_BACK: std::time::Duration = std::time::Duration::from_secs(1);

fn main() -> std::process::ExitCode {
    keep_pages_small();
    give_memory_back();
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

/// The allocator keeps what was let go for a second, and gives it back to the system when a thread next comes by that allocates much. On a
/// server that has nothing more to do none comes: what a load took stayed resident. So one comes by now and then.
fn give_memory_back() {
    let come_by = || {
        loop {
            std::thread::sleep(GIVING_BACK);
            // SAFETY: any thread may call it at any time: it looks at this thread's own memory, and at what all threads have let go
            // under the allocator's own locks (mimalloc.h, mi_collect). False: not what was let go just now.
            unsafe { libmimalloc_sys::mi_collect(false) };
        }
    };
    // Without it nothing but that is lost.
    let _ = std::thread::Builder::new().name("percosql-memory".to_owned()).spawn(come_by);
}
