//! [`Turns`]: an order among transactions that lost again and again. First committer wins, so of many who want one row a client
//! that is a little slower than the others may lose every time. Who has lost several times in a row waits, before it takes its
//! snapshot, until those before it in the same line have ended: then it meets only those who did not lose lately. Nobody is
//! locked out by it: a turn only keeps others in line waiting, and is correct to skip.

use bytes::Bytes;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use storage::env::EnvRef;
use tokio::sync::OwnedMutexGuard;

/// Losses in a row after which a transaction waits in line.
const LOSSES: u32 = 3;
/// Lines: rows share one by their hash, which costs them time only.
const LINES: usize = 256;
/// The longest wait in line. Then the transaction runs without its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a turn lasts at most: of a client that went idle nobody knows whether it goes on.
const LONGEST_TURN: Duration = Duration::from_millis(200);

type Line = Arc<tokio::sync::Mutex<()>>;

/// The lines of a server.
pub struct Turns {
    lines: Vec<Line>,
    hasher: std::hash::RandomState,
}

impl Default for Turns {
    fn default() -> Self {
        Turns { lines: (0..LINES).map(|_| Line::default()).collect(), hasher: std::hash::RandomState::new() }
    }
}

/// A transaction's turn: others in its line wait until this is dropped, or has lasted too long.
pub struct Turn {
    _held: Arc<Mutex<Option<OwnedMutexGuard<()>>>>,
}

impl Turns {
    /// Waits in the line for `key`; `None` when that took too long.
    pub async fn wait(&self, env: &EnvRef, key: &Bytes) -> Option<Turn> {
        let hash = usize::try_from(self.hasher.hash_one(key) % LINES as u64).unwrap_or(0);
        let line = self.lines.get(hash)?;
        let guard = match Arc::clone(line).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => match select(pin!(Arc::clone(line).lock_owned()), env.sleep(LONGEST_WAIT)).await {
                Either::Left((guard, _)) => guard,
                Either::Right(_) => return None,
            },
        };
        let held = Arc::new(Mutex::new(Some(guard)));
        let (kept, end) = (Arc::downgrade(&held), env.sleep(LONGEST_TURN));
        let expires = async move {
            end.await;
            if let Some(held) = kept.upgrade() {
                held.lock().take();
            }
        };
        env.spawn("turn", Box::pin(expires));
        Some(Turn { _held: held })
    }
}

/// How a session's transactions fared.
#[derive(Debug, Default)]
pub struct Losses {
    /// Those that were refused one after the other.
    in_a_row: u32,
    /// The row that the last one lost, until its turn is asked for.
    key: Option<Bytes>,
}

impl Losses {
    /// A transaction was refused because another had changed this row.
    pub fn lost(&mut self, key: &Bytes) {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.key = Some(key.clone());
    }
    /// One that wrote was committed.
    pub fn won(&mut self) {
        *self = Losses::default();
    }
    /// The row to wait in line for before the next transaction, once.
    pub fn take(&mut self) -> Option<Bytes> {
        if self.in_a_row < LOSSES { None } else { self.key.take() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use storage::testing::SimEnv;

    fn key() -> Bytes {
        Bytes::from_static(b"row")
    }

    #[test]
    fn a_turn_is_asked_for_once_after_losses_in_a_row() {
        let mut losses = Losses::default();
        for _ in 1..LOSSES {
            losses.lost(&key());
            assert_eq!(losses.take(), None);
        }
        losses.lost(&key());
        assert_eq!((losses.take(), losses.take()), (Some(key()), None));
        losses.lost(&key());
        assert_eq!(losses.take(), Some(key()), "a loss in its turn counts on");
        losses.lost(&key());
        losses.won();
        losses.lost(&key());
        assert_eq!(losses.take(), None, "a commit ends the row of losses");
    }

    #[test]
    fn turns_come_in_order_and_end() {
        let sim = SimEnv::new(7);
        let env: EnvRef = sim.clone();
        let test = async move {
            let turns = Turns::default();
            let (key, began) = (key(), env.monotonic());
            let first = turns.wait(&env, &key).await.unwrap();
            assert_eq!(env.monotonic(), began, "nobody is in line");
            drop(first);
            let _idle = turns.wait(&env, &key).await.unwrap();
            assert_eq!(env.monotonic(), began, "a turn ends with its transaction");
            let _next = turns.wait(&env, &key).await.unwrap();
            let waited = env.monotonic() - began;
            assert!(waited >= LONGEST_TURN && waited < LONGEST_WAIT, "who is idle holds others up for {waited:?}");
        };
        sim.block_on(test).unwrap();
    }
}
