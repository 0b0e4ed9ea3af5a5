//! [`Turns`] orders transactions that lost again and again. The first committer wins, so a slightly slower client may
//! lose a contended row every time. A session that lost several times in a row waits in a queue before its next
//! snapshot. Its transaction then competes only with those that did not lose recently. A turn blocks only others in the
//! queue, and skipping it is correct. Must not know statements.

use bytes::Bytes;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use storage::env::EnvRef;
use tokio::sync::OwnedMutexGuard;

/// Consecutive losses after which a transaction waits in the queue.
const LOSSES: u32 = 3;
/// The number of queues. Rows share a queue by hash, which costs only time.
const LINES: usize = 256;
/// The longest wait in a queue. After it the transaction runs without its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The longest turn, because a client may go idle in its transaction.
const LONGEST_TURN: Duration = Duration::from_millis(200);

type Line = Arc<tokio::sync::Mutex<()>>;

/// The queues of a server.
pub struct Turns {
    lines: Vec<Line>,
    hasher: std::hash::RandomState,
}

impl Default for Turns {
    fn default() -> Self {
        Turns { lines: (0..LINES).map(|_| Line::default()).collect(), hasher: std::hash::RandomState::new() }
    }
}

/// A transaction's turn: others in its queue wait until this is dropped or `LONGEST_TURN` has passed.
pub struct Turn {
    _held: Arc<Mutex<Option<OwnedMutexGuard<()>>>>,
}

impl Turns {
    /// Waits in the queue of `key`. `None` after `LONGEST_WAIT`.
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

/// The recent losses of a session's transactions.
#[derive(Debug, Default)]
pub struct Losses {
    in_a_row: u32,
    /// The row of the last refusal, until the session waits for its turn.
    key: Option<Bytes>,
}

impl Losses {
    /// Records a refusal because of a change of this row.
    pub fn lost(&mut self, key: &Bytes) {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.key = Some(key.clone());
    }
    /// Records the commit of a transaction that wrote.
    pub fn won(&mut self) {
        *self = Losses::default();
    }
    /// The row whose queue the next transaction waits in. Returned once.
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
