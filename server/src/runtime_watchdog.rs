//! [`Lookout`]: a thread that keeps a runtime's sockets and timers served while one of its threads computes. It also
//! wakes the spare threads of reactors ([`Reserve`]).
//!
//! One of tokio's worker threads waits for sockets and timers, and the others sleep. An event wakes the waiting thread,
//! which runs the event's task. No other thread takes over the wait unless more tasks are queued. If the task computes
//! for seconds without a pause, no other connection is served meanwhile, although threads are idle.
//!
//! Waking another thread at each event would cost every short statement a context switch. A periodic check has no
//! measurable cost.

use crate::reserve::Reserve;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use storage::env::EnvRef;
use tokio::runtime::{Handle, RuntimeMetrics};

/// Time between two checks. A thread may compute for up to twice as long until another thread is woken to take its
/// place.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Checks runtimes and reactors until it is dropped.
pub struct Lookout {
    /// The thread ends when this end of the channel is dropped.
    _stop: mpsc::Sender<()>,
}

impl Lookout {
    /// Starts a thread that checks `runtimes` and `reserves`.
    pub fn over(runtimes: Vec<Handle>, reserves: Vec<Arc<Reserve>>, env: &EnvRef) -> Lookout {
        let (stop, stopped) = mpsc::channel();
        let mut watched: Vec<Watched> = runtimes.into_iter().map(Watched::new).collect();
        let clock = Arc::clone(env);
        let look = move || {
            while stopped.recv_timeout(BETWEEN_LOOKS) == Err(mpsc::RecvTimeoutError::Timeout) {
                watched.iter_mut().for_each(Watched::look);
                let now = clock.monotonic();
                reserves.iter().for_each(|reserve| reserve.look(now));
            }
        };
        env.spawn_thread("percosql-lookout", Box::new(look));
        Lookout { _stop: stop }
    }
}

struct Watched {
    runtime: Handle,
    metrics: RuntimeMetrics,
    /// Each worker's count of parks and unparks at the last check.
    seen: Vec<u64>,
}

impl Watched {
    fn new(runtime: Handle) -> Watched {
        let metrics = runtime.metrics();
        let seen = vec![0; metrics.num_workers()];
        Watched { runtime, metrics, seen }
    }

    /// A worker that has been awake since the last check may delay other tasks. A task from outside wakes a sleeping
    /// worker, which next waits for sockets and timers.
    fn look(&mut self) {
        let mut awake = false;
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            let count = self.metrics.worker_park_unpark_count(worker);
            // An even count means that the worker is awake.
            awake |= count == *seen && count.is_multiple_of(2);
            *seen = count;
        }
        if awake {
            drop(self.runtime.spawn(std::future::ready(())));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Instant;
    use storage::env::SystemEnv;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// How long the task of another connection occupies its thread.
    const LONG: Duration = Duration::from_secs(3);

    /// How long a connection waits for one byte meanwhile.
    fn waited(lookout: bool) -> Duration {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serve = async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                drop(tokio::spawn(async move {
                    let mut byte = [0];
                    while socket.read_exact(&mut byte).await.is_ok() {
                        if byte == *b"c" {
                            std::thread::sleep(LONG);
                        }
                        socket.write_all(&byte).await.unwrap();
                    }
                }));
            }
        };
        drop(runtime.spawn(serve));
        let env: EnvRef = SystemEnv::new(runtime.handle().clone());
        let _lookout = lookout.then(|| Lookout::over(vec![runtime.handle().clone()], Vec::new(), &env));
        let (mut long, mut short) = (TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap());
        let mut byte = [0];
        for connection in [&mut long, &mut short] {
            connection.write_all(b"x").unwrap();
            connection.read_exact(&mut byte).unwrap();
        }
        // Now both workers sleep, and one of them waits for sockets.
        std::thread::sleep(Duration::from_millis(100));
        long.write_all(b"c").unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        short.write_all(b"x").unwrap();
        short.read_exact(&mut byte).unwrap();
        let waited = begin.elapsed();
        runtime.shutdown_background();
        waited
    }

    #[test]
    fn connections_are_heard_while_one_computes() {
        // This delay is the reason for the lookout. If the assertion fails, tokio no longer needs a lookout, and it can
        // go.
        assert!((0..3).any(|_| waited(false) > LONG / 2), "nobody needs a lookout");
        assert!(waited(true) < LONG / 2);
    }
}
