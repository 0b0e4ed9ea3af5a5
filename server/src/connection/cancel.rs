//! [`Backends`]: the served connections by process number. A cancel request arrives on another connection and names its
//! target by that number.

use bytes::Bytes;
use parking_lot::Mutex;
use planner::session::CancelToken;
use planner::{SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;

/// Size of the range of process numbers, for one of several servers.
const RANGE: i32 = 1 << 16;
/// Connections reserved for superusers, if the limit is larger: PostgreSQL's default of
/// `superuser_reserved_connections`.
const RESERVED: usize = 3;

/// All connections of a server, and their limit.
#[derive(Debug)]
pub struct Backends {
    limit: usize,
    /// Process numbers lie above this number, within [`RANGE`] of it.
    base: i32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: i32,
    by_process: HashMap<i32, Entry>,
}

#[derive(Debug)]
struct Entry {
    secret: Bytes,
    cancel: CancelToken,
}

/// A connection's slot. Dropping it frees the slot.
#[derive(Debug)]
pub struct Backend {
    /// Process number that the client knows.
    pub process: i32,
    /// Cancels the statements of this connection.
    pub cancel: CancelToken,
    backends: Arc<Backends>,
}

impl Backends {
    /// Creates slots for `limit` connections.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Backends { limit, base: 0, state: Mutex::default() })
    }

    /// Like [`Backends::new`], for one of several servers. `drawn` is random and selects the range of process numbers.
    /// Every server shows the processes of all servers, so their ranges should not overlap.
    pub fn among_others(limit: usize, drawn: u64) -> Arc<Self> {
        let ranges = u64::from(i32::MAX.unsigned_abs() / RANGE.unsigned_abs());
        let base = i32::try_from(drawn % ranges).unwrap_or(0) * RANGE;
        Arc::new(Backends { limit, base, state: Mutex::default() })
    }

    /// Takes a slot. Errors: 53300 if no slot is free, or only slots reserved for superusers.
    pub fn register(self: &Arc<Self>, secret: Bytes, superuser: bool) -> Result<Backend, SqlError> {
        let full = |message: &str| Err(SqlError::new(state::TOO_MANY_CONNECTIONS, message));
        let mut state = self.state.lock();
        let left = self.limit.saturating_sub(state.by_process.len());
        if left == 0 {
            return full("sorry, too many clients already");
        }
        if left <= self.reserved() && !superuser {
            return full("remaining connection slots are reserved for non-replication superuser connections");
        }
        loop {
            state.next = if state.next == self.last() { 1 } else { state.next + 1 };
            if !state.by_process.contains_key(&(self.base + state.next)) {
                break;
            }
        }
        let process = self.base + state.next;
        let cancel = CancelToken::new();
        state.by_process.insert(process, Entry { secret, cancel: cancel.clone() });
        Ok(Backend { process, cancel, backends: Arc::clone(self) })
    }

    /// The largest process number of the range.
    fn last(&self) -> i32 {
        if self.base == 0 { i32::MAX } else { RANGE }
    }

    /// Cancels the statement of connection `process` if `secret` matches. No client learns whether it matched.
    pub fn cancel(&self, process: i32, secret: &[u8]) {
        let state = self.state.lock();
        if let Some(entry) = state.by_process.get(&process)
            && same(&entry.secret, secret)
        {
            entry.cancel.cancel();
        }
    }

    /// Cancels the statements of all connections.
    pub fn cancel_all(&self) {
        for entry in self.state.lock().by_process.values() {
            entry.cancel.cancel();
        }
    }

    /// Connections served at a time, at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Slots reserved for superusers. At least one slot is left for every role.
    pub fn reserved(&self) -> usize {
        RESERVED.min(self.limit.saturating_sub(1))
    }

    /// Number of connections in service.
    pub fn count(&self) -> usize {
        self.state.lock().by_process.len()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.backends.state.lock().by_process.remove(&self.process);
    }
}

/// Compares in constant time, so that the time does not reveal where the two differ.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |all, (l, r)| all | (l ^ r)) == 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn servers_number_their_processes_apart() {
        let secret = Bytes::from_static(b"1234");
        let all = [0, 1, 7, u64::MAX].map(|drawn| Backends::among_others(10, drawn));
        let places: Vec<Backend> =
            all.iter().flat_map(|one| (0..3).map(|_| one.register(secret.clone(), true).unwrap())).collect();
        let numbers: std::collections::HashSet<i32> = places.iter().map(|place| place.process).collect();
        assert!(numbers.len() == 12 && numbers.iter().all(|number| *number > 0), "{numbers:?}");
        // Numbers wrap around within their range.
        all[1].state.lock().next = RANGE;
        assert_eq!(all[1].register(secret, true).unwrap().process, RANGE + 4);
    }

    #[test]
    fn only_the_right_secret_cancels_and_a_dropped_place_is_free_again() {
        let backends = Backends::new(1);
        let backend = backends.register(Bytes::from_static(b"1234"), false).unwrap();
        assert!(backends.register(Bytes::from_static(b"1234"), true).is_err());
        backends.cancel(backend.process, b"1235");
        backends.cancel(backend.process, b"123");
        backends.cancel(backend.process + 1, b"1234");
        assert!(!backend.cancel.is_cancelled());
        backends.cancel(backend.process, b"1234");
        assert!(backend.cancel.is_cancelled());
        drop(backend);
        assert_eq!(backends.count(), 0);
        assert!(backends.register(Bytes::from_static(b"1234"), false).is_ok());
    }

    #[test]
    fn the_last_places_are_for_superusers() {
        let backends = Backends::new(5);
        let secret = Bytes::from_static(b"1234");
        let mut taken: Vec<Backend> = (0..2).map(|_| backends.register(secret.clone(), false).unwrap()).collect();
        let refused = backends.register(secret.clone(), false).unwrap_err();
        assert_eq!(refused.state(), "53300");
        let says = "remaining connection slots are reserved for non-replication superuser connections";
        assert_eq!(refused.fields().message, says);
        taken.extend((0..3).map(|_| backends.register(secret.clone(), true).unwrap()));
        for superuser in [true, false] {
            let refused = backends.register(secret.clone(), superuser).unwrap_err();
            assert_eq!(refused.fields().message, "sorry, too many clients already");
        }
        assert_eq!(Backends::new(2).reserved(), 1);
        assert_eq!(Backends::new(1).reserved(), 0);
    }
}
