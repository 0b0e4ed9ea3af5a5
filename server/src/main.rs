//! The `percosql` command: see [`percosql::cli`].

use std::time::Duration;

/// One thread allocates the many small parts of plans and rows, and another frees them. glibc's allocator then contends
/// for its locks.
#[global_allocator]
static ALLOCATOR: percosql::allocator::Allocator = percosql::allocator::Allocator;

/// Interval at which an idle server returns freed memory to the system.
const GIVING_BACK: Duration = Duration::from_secs(1);
/// A process that used more processor time than this in one interval is busy. It would soon touch the freed pages
/// again.
const RESTING: Duration = Duration::from_millis(200);
/// Intervals in a row for which a busy process keeps its freed memory, at most.
const MOST_KEPT: u32 = 4;

fn main() -> std::process::ExitCode {
    keep_pages_small();
    give_memory_back();
    percosql::cli::main()
}

/// Disables pages of 2 MB, which the allocator would request. Linux clears a large page in whole at the first touch. In
/// the first COPY of a million rows that took half the processor time, and a quarter of the memory at rest was unused.
/// Point reads are as fast without large pages. If the kernel refuses, the server only loses this gain.
#[cfg(target_os = "linux")]
fn keep_pages_small() {
    // SAFETY: this option of prctl takes numbers alone and touches no memory of ours (prctl(2), PR_SET_THP_DISABLE).
    let _ = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

#[cfg(not(target_os = "linux"))]
fn keep_pages_small() {}

/// Processor time of the process. Zero if the system does not report it.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let mut taken = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes a timespec to the given address, which is a local variable (clock_gettime(2)).
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

/// The allocator keeps freed memory for a second. It returns the memory to the system when a thread next allocates
/// much. On an idle server no such thread runs, so the memory of a load would stay resident. This thread calls the
/// allocator periodically instead.
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
            // SAFETY: any thread may call it at any time. It reads this thread's own memory, and the freed memory of
            // all threads under the allocator's own locks (mimalloc.h, mi_collect). With `false` it keeps memory that
            // was freed just now.
            unsafe { libmimalloc_sys::mi_collect(false) };
        }
    };
    // Without this thread only freed memory stays resident.
    let _ = std::thread::Builder::new().name("percosql-memory".to_owned()).spawn(come_by);
}
