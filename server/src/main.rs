//! The `percosql` command. Chooses nothing and knows nothing: see [`percosql::cli`].

use std::time::Duration;

/// Plans and rows are made of many small pieces that one thread makes and another lets go; glibc's allocator waits for its own
/// locks then.
#[global_allocator]
static ALLOCATOR: percosql::allocator::Allocator = percosql::allocator::Allocator;

/// How often memory that was let go is given back, on a server that rests.
const GIVING_BACK: Duration = Duration::from_secs(1);
/// Who takes more of a processor than this meanwhile does not rest: what it has let go it is about to take again, page by page.
const RESTING: Duration = Duration::from_millis(200);
/// How often in a row it keeps its memory for that.
const MOST_KEPT: u32 = 4;

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

/// What the process has taken of the processors. Zero where the system does not tell.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let mut taken = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes a timespec where it is told to, and this one is ours (clock_gettime(2)).
    let told = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut taken) };
    match (told, u64::try_from(taken.tv_sec), u32::try_from(taken.tv_nsec)) {
        (0, Ok(seconds), Ok(nanos)) => Duration::new(seconds, nanos),
        _ => Duration::ZERO,
    }
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    Duration::ZERO
}

/// The allocator keeps what was let go for a second, and gives it back to the system when a thread next comes by that allocates much. On a
/// server that has nothing more to do none comes: what a load took stayed resident. So one comes by now and then.
fn give_memory_back() {
    let come_by = || {
        let (mut taken, mut kept) = (processor_time(), 0);
        loop {
            std::thread::sleep(GIVING_BACK);
            let before = std::mem::replace(&mut taken, processor_time());
            if kept < MOST_KEPT && taken.saturating_sub(before) > RESTING {
                kept += 1;
                continue;
            }
            kept = 0;
            // SAFETY: any thread may call it at any time: it looks at this thread's own memory, and at what all threads have let go
            // under the allocator's own locks (mimalloc.h, mi_collect). False: not what was let go just now.
            unsafe { libmimalloc_sys::mi_collect(false) };
        }
    };
    // Without it nothing but that is lost.
    let _ = std::thread::Builder::new().name("percosql-memory".to_owned()).spawn(come_by);
}
