//! [`start`]: creates the runtimes whose threads run the server's tasks.

use tokio::runtime::{Builder, Runtime};

/// Stack of a thread in bytes. Plans of deep queries recurse, and a debug build takes some kilobytes for each level. Only
/// what is used takes memory.
const STACK_BYTES: usize = 64 << 20;

/// Starts a runtime with `count` threads of this name, or with one per core. Even a single thread uses tokio's
/// multi-threaded runtime, because `block_in_place` then leaves the other tasks a thread. Errors are sentences for a
/// person.
pub fn start(name: &str, count: Option<usize>) -> Result<Runtime, String> {
    let mut builder = Builder::new_multi_thread();
    if let Some(count) = count {
        builder.worker_threads(count.max(1));
    }
    let builder = builder.enable_all().thread_name(name).thread_stack_size(STACK_BYTES);
    builder.build().map_err(|e| format!("cannot start the runtime: {e}"))
}
