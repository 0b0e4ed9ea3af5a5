//! [`start`]: the threads that tasks run on.

use tokio::runtime::{Builder, Runtime};

/// Bytes of a thread's stack: plans of deep queries recurse; two megabytes are soon gone in a debug build.
const STACK_BYTES: usize = 16 << 20;

/// Starts a runtime whose threads are called `name`: `count` of them, or one for each core. With one thread too it is of tokio's kind
/// that has several, so that what blocks in the midst of a task leaves the others a thread. Errors are sentences for a person.
pub fn start(name: &str, count: Option<usize>) -> Result<Runtime, String> {
    let mut builder = Builder::new_multi_thread();
    if let Some(count) = count {
        builder.worker_threads(count.max(1));
    }
    let builder = builder.enable_all().thread_name(name).thread_stack_size(STACK_BYTES);
    builder.build().map_err(|e| format!("cannot start the runtime: {e}"))
}
