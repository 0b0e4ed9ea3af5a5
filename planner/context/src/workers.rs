//! [`Workers`]: the threads for long computations.

use tokio::runtime::Handle;

/// The threads that a runtime keeps for blocking work. They run long computations, and the tasks that operators start.
#[derive(Clone, Debug, Default)]
pub struct Workers(Option<Handle>);

impl Workers {
    /// Those of a runtime.
    pub fn new(runtime: Handle) -> Self {
        Workers(Some(runtime))
    }
    /// The threads of the runtime that the caller runs in, when there are no others.
    pub fn handle(&self) -> Option<Handle> {
        self.0.clone().or_else(|| Handle::try_current().ok())
    }
    /// Runs `work`, which may start tasks: they run on these threads.
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        let _inside = self.0.as_ref().map(Handle::enter);
        work()
    }
}
