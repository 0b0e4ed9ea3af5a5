//! [`Lookout`]: a thread that sees to it that sockets and timers of a runtime are looked after while one of its threads
//! computes. It also wakes the spare threads of reactors ([`Reserve`]).
//!
//! Of tokio's worker threads one waits for sockets and timers, and the others sleep. When an event wakes it, it runs the
//! task that the event was for, and nobody takes its place unless there is more to do: should that task compute for
//! seconds without a pause, no other connection is heard meanwhile, although a thread is free. Waking another thread at
//! each event would cost every short statement a switch; looking now and then costs nothing that can be measured.

use crate::reserve::Reserve;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use storage::env::EnvRef;
use tokio::runtime::{Handle, RuntimeMetrics};

/// The time between two looks. A thread may compute for up to twice as long until another is woken to take its place.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Looks after runtimes until it is dropped.
pub struct Lookout {
    /// The thread ends when this end of the channel is gone.
    _stop: mpsc::Sender<()>,
}

impl Lookout {
    /// Begins to look after `runtimes` and `reserves`, on a thread of its own.
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
    /// How often each worker had gone to sleep or woken at the last look.
    seen: Vec<u64>,
}

impl Watched {
    fn new(runtime: Handle) -> Watched {
        let metrics = runtime.metrics();
        let seen = vec![0; metrics.num_workers()];
        Watched { runtime, metrics, seen }
    }

    /// A worker that has been awake since the last look may hold what others wait for: a task from outside wakes one that
    /// sleeps, and that one waits for sockets and timers next.
    fn look(&mut self) {
        let mut awake = false;
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            let count = self.metrics.worker_park_unpark_count(worker);
            // An even count is that of a worker that is awake.
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

    /// How long another connection's task keeps its thread.
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
        // Both workers sleep, one of them waits for sockets.
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
        // What the lookout is for: should this fail, tokio has learnt it, and the lookout can go.
        assert!((0..3).any(|_| waited(false) > LONG / 2), "nobody needs a lookout");
        assert!(waited(true) < LONG / 2);
    }
}
