//! [`WaitingRoom`]: the sockets of unauthenticated clients. Their number is limited. Beyond the limit a newcomer
//! replaces another socket, so silent sockets lock nobody out.
//!
//! The room closes the oldest socket of the network address with the most sockets. A client authenticates within a few
//! round trips. A flood from its own address must refill all places within that time to displace it. A flood from other
//! addresses displaces its own sockets first.

use parking_lot::Mutex;
use planner::session::CancelToken;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

/// The places for sockets of unauthenticated clients.
#[derive(Debug)]
pub struct WaitingRoom {
    places: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The waiting clients in order of arrival.
    guests: BTreeMap<u64, Guest>,
}

#[derive(Debug)]
struct Guest {
    network: IpAddr,
    leave: CancelToken,
}

/// A place in the room. Dropping it frees the place.
#[derive(Debug)]
pub struct Seat {
    number: u64,
    leave: CancelToken,
    room: Arc<WaitingRoom>,
}

impl WaitingRoom {
    /// Creates a room with `places` places, at least one.
    pub fn new(places: usize) -> Arc<WaitingRoom> {
        Arc::new(WaitingRoom { places: places.max(1), state: Mutex::default() })
    }

    /// Takes a place for a client. Answers also whether another client lost its place.
    pub fn enter(self: &Arc<Self>, peer: IpAddr) -> (Seat, bool) {
        let mut state = self.state.lock();
        let full = state.guests.len() >= self.places;
        if full && let Some(number) = state.superfluous() {
            // Removed here, so that the drop of the guest's seat has no effect.
            if let Some(guest) = state.guests.remove(&number) {
                guest.leave.cancel();
            }
        }
        let (number, leave) = (state.next, CancelToken::new());
        state.next += 1;
        state.guests.insert(number, Guest { network: network(peer), leave: leave.clone() });
        (Seat { number, leave, room: Arc::clone(self) }, full)
    }
}

impl State {
    /// The oldest client of the network with the most clients. Among several such networks, the one with the earliest
    /// oldest client counts.
    fn superfluous(&self) -> Option<u64> {
        let mut networks: HashMap<IpAddr, (usize, u64)> = HashMap::new();
        for (number, guest) in &self.guests {
            networks.entry(guest.network).or_insert((0, *number)).0 += 1;
        }
        let most = networks.into_values().max_by_key(|(count, oldest)| (*count, std::cmp::Reverse(*oldest)));
        most.map(|(_, oldest)| oldest)
    }
}

impl Seat {
    /// Resolves when another client has taken the place.
    pub async fn lost(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.state.lock().guests.remove(&self.number);
    }
}

/// The network that counts as one address. For IPv6 it is the first 64 bits, because one client can use any address
/// below them.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_newcomer_takes_the_place_of_the_oldest_of_the_largest_crowd() {
        let room = WaitingRoom::new(4);
        let mut seats: Vec<Seat> = ["10.0.0.9", "10.0.0.1", "10.0.0.1", "10.0.0.1"]
            .into_iter()
            .map(|peer| {
                let (seat, full) = room.enter(address(peer));
                assert!(!full);
                seat
            })
            .collect();
        let lost = |seats: &[Seat]| seats.iter().map(|seat| seat.leave.is_cancelled()).collect::<Vec<_>>();
        let (seat, full) = room.enter(address("10.0.0.1"));
        assert!(full);
        seats.push(seat);
        assert_eq!(lost(&seats), [false, true, false, false, false]);
        seats.push(room.enter(address("10.0.0.8")).0);
        assert_eq!(lost(&seats), [false, true, true, false, false, false]);
        assert_eq!(room.state.lock().guests.len(), 4);
        // Four networks have one client each, another has two.
        drop(seats);
        assert_eq!(room.state.lock().guests.len(), 0);
        let (_seat, full) = room.enter(address("10.0.0.1"));
        assert!(!full);
    }

    #[test]
    fn the_addresses_of_an_ipv6_network_are_one() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:1")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:0:1::1")));
        assert_eq!(network(address("::ffff:10.0.0.1")), address("10.0.0.1"));
    }
}
