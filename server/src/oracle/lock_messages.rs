//! `Lock`'s request and answer in protobuf's form, for [`txn::locks::LockRequest`] and [`txn::locks::LockReply`]. An
//! unreadable message is an error with a sentence for a person.

use prost::{Message, Oneof};
use std::time::Duration;
use txn::locks::{
    AcquireCall, CircleMember, EndedWait, GivenBack, HeldLock, LockCall, LockFailure, LockMode, LockName, LockReply,
    LockRequest, LockWait, NamedLock, SeenLocks, Taken, WaitEnd, WaitingLock, WantedLock,
};

type Result<T, E = String> = std::result::Result<T, E>;

#[derive(Clone, PartialEq, Message)]
pub(super) struct LockMessage {
    #[prost(fixed64, tag = "1")]
    tenure: u64,
    #[prost(fixed64, tag = "2")]
    session: u64,
    #[prost(oneof = "Call", tags = "3, 4, 5, 6, 7, 8")]
    call: Option<Call>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Call {
    #[prost(message, tag = "3")]
    Open(Open),
    #[prost(message, tag = "4")]
    Beat(Nothing),
    #[prost(message, tag = "5")]
    Reclaim(Reclaim),
    #[prost(message, tag = "6")]
    Acquire(Acquire),
    #[prost(message, tag = "7")]
    Release(Release),
    #[prost(message, tag = "8")]
    Look(Nothing),
}

#[derive(Clone, PartialEq, Message)]
struct Nothing {}

#[derive(Clone, PartialEq, Message)]
struct Open {
    #[prost(fixed64, tag = "1")]
    node: u64,
    #[prost(uint64, tag = "2")]
    attempt: u64,
}

/// A lock: its name, its mode, and a description for other sessions.
#[derive(Clone, PartialEq, Message)]
struct Lock {
    #[prost(fixed64, tag = "1")]
    high: u64,
    #[prost(fixed64, tag = "2")]
    low: u64,
    #[prost(uint64, tag = "3")]
    mode: u64,
    #[prost(bytes = "bytes", tag = "4")]
    tag: bytes::Bytes,
    /// The owner of a lock that is reclaimed or lost.
    #[prost(uint64, tag = "5")]
    locker: u64,
    #[prost(int32, tag = "6")]
    label: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Labelled {
    #[prost(uint64, tag = "1")]
    locker: u64,
    #[prost(int32, tag = "2")]
    label: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Reclaim {
    #[prost(message, repeated, tag = "1")]
    locks: Vec<Lock>,
    #[prost(message, repeated, tag = "2")]
    looked_for: Vec<Labelled>,
    #[prost(bool, tag = "3")]
    last: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Acquire {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(uint64, tag = "2")]
    locker: u64,
    #[prost(int32, tag = "3")]
    label: i32,
    #[prost(bool, tag = "4")]
    looked_for: bool,
    #[prost(bool, tag = "5")]
    waits: bool,
    /// Time limit of the wait in microseconds. Unset means no limit.
    #[prost(uint64, optional, tag = "6")]
    micros: Option<u64>,
    #[prost(message, repeated, tag = "7")]
    names: Vec<Lock>,
}

#[derive(Clone, PartialEq, Message)]
struct Release {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(uint64, tag = "2")]
    floor: u64,
    #[prost(message, repeated, tag = "3")]
    given_back: Vec<Item>,
}

/// A released item by `kind`: 0 locks, 1 an abandoned acquisition, 2 the search for a locker, 3 a locker.
#[derive(Clone, PartialEq, Message)]
struct Item {
    #[prost(uint32, tag = "1")]
    kind: u32,
    #[prost(uint64, tag = "2")]
    locker: u64,
    #[prost(int32, tag = "3")]
    label: i32,
    #[prost(uint64, tag = "4")]
    number: u64,
    #[prost(message, repeated, tag = "5")]
    locks: Vec<Lock>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LockAnswer {
    #[prost(oneof = "Reply", tags = "1, 2, 3, 4, 5, 6")]
    reply: Option<Reply>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Reply {
    #[prost(fixed64, tag = "1")]
    Opened(u64),
    #[prost(message, tag = "2")]
    Done(Nothing),
    #[prost(message, tag = "3")]
    Lost(Reclaim),
    #[prost(message, tag = "4")]
    Taken(Answers),
    #[prost(message, tag = "5")]
    Seen(Seen),
    #[prost(message, tag = "6")]
    Unknown(Nothing),
}

#[derive(Clone, PartialEq, Message)]
struct Answers {
    /// Per lock: 0 newly granted, 1 already held, 2 held by another.
    #[prost(uint32, repeated, tag = "1")]
    taken: Vec<u32>,
    /// 0 no failure, 1 held, 2 timed out, 3 a deadlock, 4 too many, 5 the lock server does not answer.
    #[prost(uint32, tag = "2")]
    failure: u32,
    #[prost(message, repeated, tag = "3")]
    circle: Vec<Wait>,
}

#[derive(Clone, PartialEq, Message)]
struct Seen {
    #[prost(uint64, tag = "1")]
    now_micros: u64,
    #[prost(message, repeated, tag = "2")]
    named: Vec<Named>,
    #[prost(message, repeated, tag = "3")]
    waiting: Vec<Wait>,
    #[prost(message, repeated, tag = "4")]
    ended: Vec<Wait>,
}

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(int32, tag = "1")]
    label: i32,
    #[prost(bytes = "bytes", tag = "2")]
    tag: bytes::Bytes,
    #[prost(uint32, tag = "3")]
    modes: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Wait {
    #[prost(int32, tag = "1")]
    label: i32,
    #[prost(bytes = "bytes", tag = "2")]
    tag: bytes::Bytes,
    #[prost(uint64, tag = "3")]
    mode: u64,
    #[prost(int32, repeated, tag = "4")]
    blocked_by: Vec<i32>,
    #[prost(uint64, tag = "5")]
    since_micros: u64,
    #[prost(uint64, tag = "6")]
    waited_micros: u64,
    /// How the wait ended: 0 granted, 1 timed out, 2 a deadlock, 3 abandoned.
    #[prost(uint32, tag = "7")]
    end: u32,
}

fn unknown(what: &str) -> String {
    format!("{what} of a lock cannot be read: the servers of a store must be of one version")
}

fn mode(bits: u64) -> Result<LockMode> {
    LockMode::from_bits(bits).ok_or_else(|| unknown("the mode"))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Lock {
    fn of(lock: WantedLock) -> Lock {
        let (high, low) = lock.name.to_halves();
        Lock { high, low, mode: lock.mode.to_bits(), tag: lock.tag, locker: 0, label: 0 }
    }
    fn bare((name, mode): (LockName, LockMode)) -> Lock {
        Lock::of(WantedLock { name, mode, tag: bytes::Bytes::new() })
    }
    fn name(&self) -> LockName {
        LockName::from_halves(self.high, self.low)
    }
    fn wanted(self) -> Result<WantedLock> {
        Ok(WantedLock { name: self.name(), mode: mode(self.mode)?, tag: self.tag })
    }
}

fn bare(locks: Vec<Lock>) -> Result<Vec<(LockName, LockMode)>> {
    locks.into_iter().map(|lock| Ok((lock.name(), mode(lock.mode)?))).collect()
}

impl Item {
    fn of(item: GivenBack) -> Item {
        let empty = Item { kind: 0, locker: 0, label: 0, number: 0, locks: Vec::new() };
        let bare = |locks: Vec<_>| locks.into_iter().map(Lock::bare).collect();
        match item {
            GivenBack::Locks { locker, locks } => Item { locker, locks: bare(locks), ..empty },
            GivenBack::Abandoned { locker, label, number, locks } => {
                Item { kind: 1, locker, label, number, locks: bare(locks) }
            }
            GivenBack::LookedFor { locker } => Item { kind: 2, locker, ..empty },
            GivenBack::Locker { locker, last } => Item { kind: 3, locker, number: last, ..empty },
        }
    }
    fn read(self) -> Result<GivenBack> {
        let Item { kind, locker, label, number, locks } = self;
        Ok(match kind {
            0 => GivenBack::Locks { locker, locks: bare(locks)? },
            1 => GivenBack::Abandoned { locker, label, number, locks: bare(locks)? },
            2 => GivenBack::LookedFor { locker },
            3 => GivenBack::Locker { locker, last: number },
            _ => return Err(unknown("a release")),
        })
    }
}

impl From<LockRequest> for LockMessage {
    fn from(request: LockRequest) -> LockMessage {
        let call = match request.call {
            LockCall::Open { node, attempt } => Call::Open(Open { node, attempt }),
            LockCall::Beat => Call::Beat(Nothing {}),
            LockCall::Reclaim { locks, looked_for, last } => Call::Reclaim(Reclaim {
                locks: locks
                    .into_iter()
                    .map(|held| Lock { locker: held.locker, label: held.label, ..Lock::of(held.lock) })
                    .collect(),
                looked_for: looked_for.into_iter().map(|(locker, label)| Labelled { locker, label }).collect(),
                last,
            }),
            LockCall::Acquire(AcquireCall { number, locker, label, looked_for, wait, names }) => {
                let (waits, micros) = match wait {
                    LockWait::For(timeout) => (true, timeout.map(micros)),
                    LockWait::No => (false, None),
                };
                let names = names.into_iter().map(Lock::of).collect();
                Call::Acquire(Acquire { number, locker, label, looked_for, waits, micros, names })
            }
            LockCall::Release { number, floor, given_back } => {
                let given_back = given_back.into_iter().map(Item::of).collect();
                Call::Release(Release { number, floor, given_back })
            }
            LockCall::Look => Call::Look(Nothing {}),
        };
        LockMessage { tenure: request.tenure, session: request.session, call: Some(call) }
    }
}

impl LockMessage {
    /// Decodes the request. Errors: the message is incomplete or of another version.
    pub(super) fn read(self) -> Result<LockRequest> {
        let call = match self.call.ok_or_else(|| unknown("the request"))? {
            Call::Open(Open { node, attempt }) => LockCall::Open { node, attempt },
            Call::Beat(_) => LockCall::Beat,
            Call::Reclaim(Reclaim { locks, looked_for, last }) => {
                let held = |lock: Lock| Ok(HeldLock { locker: lock.locker, label: lock.label, lock: lock.wanted()? });
                let locks = locks.into_iter().map(held).collect::<Result<_>>()?;
                let looked_for = looked_for.into_iter().map(|part| (part.locker, part.label)).collect();
                LockCall::Reclaim { locks, looked_for, last }
            }
            Call::Acquire(Acquire { number, locker, label, looked_for, waits, micros, names }) => {
                let wait = if waits { LockWait::For(micros.map(Duration::from_micros)) } else { LockWait::No };
                let names = names.into_iter().map(Lock::wanted).collect::<Result<_>>()?;
                LockCall::Acquire(AcquireCall { number, locker, label, looked_for, wait, names })
            }
            Call::Release(Release { number, floor, given_back }) => {
                let given_back = given_back.into_iter().map(Item::read).collect::<Result<_>>()?;
                LockCall::Release { number, floor, given_back }
            }
            Call::Look(_) => LockCall::Look,
        };
        Ok(LockRequest { tenure: self.tenure, session: self.session, call })
    }
}

impl Wait {
    fn of(wait: WaitingLock) -> Wait {
        Wait {
            label: wait.label,
            tag: wait.tag,
            mode: wait.mode.to_bits(),
            blocked_by: wait.blocked_by,
            since_micros: micros(wait.since),
            waited_micros: 0,
            end: 0,
        }
    }
    fn of_ended(wait: EndedWait) -> Wait {
        let end = match wait.end {
            WaitEnd::Granted => 0,
            WaitEnd::TimedOut => 1,
            WaitEnd::Deadlock => 2,
            WaitEnd::GivenUp => 3,
        };
        let EndedWait { label, tag, mode, blocked_by, since, waited, .. } = wait;
        Wait { end, waited_micros: micros(waited), ..Wait::of(WaitingLock { label, tag, mode, blocked_by, since }) }
    }
    fn of_member(member: CircleMember) -> Wait {
        let CircleMember { label, tag, mode, blocked_by } = member;
        Wait::of(WaitingLock { label, tag, mode, blocked_by: vec![blocked_by], since: Duration::ZERO })
    }
    fn waiting(self) -> Result<WaitingLock> {
        let Wait { label, tag, blocked_by, since_micros, .. } = self;
        let since = Duration::from_micros(since_micros);
        Ok(WaitingLock { label, tag, mode: mode(self.mode)?, blocked_by, since })
    }
    fn ended(self) -> Result<EndedWait> {
        let end = match self.end {
            0 => WaitEnd::Granted,
            1 => WaitEnd::TimedOut,
            2 => WaitEnd::Deadlock,
            3 => WaitEnd::GivenUp,
            _ => return Err(unknown("the end")),
        };
        let waited = Duration::from_micros(self.waited_micros);
        let WaitingLock { label, tag, mode, blocked_by, since } = self.waiting()?;
        Ok(EndedWait { label, tag, mode, blocked_by, since, waited, end })
    }
    fn member(self) -> Result<CircleMember> {
        let WaitingLock { label, tag, mode, blocked_by, .. } = self.waiting()?;
        Ok(CircleMember { label, tag, mode, blocked_by: blocked_by.first().copied().unwrap_or(0) })
    }
}

impl From<LockReply> for LockAnswer {
    fn from(reply: LockReply) -> LockAnswer {
        let reply = match reply {
            LockReply::Opened(session) => Reply::Opened(session),
            LockReply::Done => Reply::Done(Nothing {}),
            LockReply::Lost(names) => {
                let lock = |(locker, name): (u64, LockName)| {
                    let (high, low) = name.to_halves();
                    Lock { high, low, mode: 0, tag: bytes::Bytes::new(), locker, label: 0 }
                };
                let locks = names.into_iter().map(lock).collect();
                Reply::Lost(Reclaim { locks, looked_for: Vec::new(), last: false })
            }
            LockReply::Taken { taken, failure } => {
                let number = |taken: Taken| match taken {
                    Taken::Newly => 0,
                    Taken::Already => 1,
                    Taken::Held => 2,
                };
                let (failure, circle) = match failure {
                    None => (0, Vec::new()),
                    Some(LockFailure::Held) => (1, Vec::new()),
                    Some(LockFailure::TimedOut) => (2, Vec::new()),
                    Some(LockFailure::Deadlock(circle)) => (3, circle.into_iter().map(Wait::of_member).collect()),
                    Some(LockFailure::TooMany) => (4, Vec::new()),
                    // A lock server never spills, so this case does not occur.
                    Some(LockFailure::Unavailable | LockFailure::NotSpilled { .. }) => (5, Vec::new()),
                    Some(LockFailure::TooManyNamed) => (6, Vec::new()),
                };
                Reply::Taken(Answers { taken: taken.into_iter().map(number).collect(), failure, circle })
            }
            LockReply::Seen(seen) => {
                let named = |lock: NamedLock| Named { label: lock.label, tag: lock.tag, modes: lock.modes.into() };
                Reply::Seen(Seen {
                    now_micros: micros(seen.now),
                    named: seen.named.into_iter().map(named).collect(),
                    waiting: seen.waiting.into_iter().map(Wait::of).collect(),
                    ended: seen.ended.into_iter().map(Wait::of_ended).collect(),
                })
            }
            LockReply::Unknown => Reply::Unknown(Nothing {}),
        };
        LockAnswer { reply: Some(reply) }
    }
}

impl LockAnswer {
    /// Decodes the reply. Errors: the message is incomplete or of another version.
    pub(super) fn read(self) -> Result<LockReply> {
        Ok(match self.reply.ok_or_else(|| unknown("the answer"))? {
            Reply::Opened(session) => LockReply::Opened(session),
            Reply::Done(_) => LockReply::Done,
            Reply::Lost(Reclaim { locks, .. }) => {
                LockReply::Lost(locks.into_iter().map(|lock| (lock.locker, lock.name())).collect())
            }
            Reply::Taken(Answers { taken, failure, circle }) => {
                let read = |number: u32| match number {
                    0 => Ok(Taken::Newly),
                    1 => Ok(Taken::Already),
                    2 => Ok(Taken::Held),
                    _ => Err(unknown("the answer")),
                };
                let failure = match failure {
                    0 => None,
                    1 => Some(LockFailure::Held),
                    2 => Some(LockFailure::TimedOut),
                    3 => Some(LockFailure::Deadlock(circle.into_iter().map(Wait::member).collect::<Result<_>>()?)),
                    4 => Some(LockFailure::TooMany),
                    5 => Some(LockFailure::Unavailable),
                    6 => Some(LockFailure::TooManyNamed),
                    _ => return Err(unknown("the answer")),
                };
                LockReply::Taken { taken: taken.into_iter().map(read).collect::<Result<_>>()?, failure }
            }
            Reply::Seen(seen) => {
                let named = |lock: Named| {
                    let modes = u16::try_from(lock.modes).map_err(|_| unknown("the modes"))?;
                    Ok(NamedLock { label: lock.label, tag: lock.tag, modes })
                };
                LockReply::Seen(SeenLocks {
                    now: Duration::from_micros(seen.now_micros),
                    named: seen.named.into_iter().map(named).collect::<Result<_>>()?,
                    waiting: seen.waiting.into_iter().map(Wait::waiting).collect::<Result<_>>()?,
                    ended: seen.ended.into_iter().map(Wait::ended).collect::<Result<_>>()?,
                })
            }
            Reply::Unknown(_) => LockReply::Unknown,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn lock(text: &'static str) -> WantedLock {
        let tag = Bytes::from_static(text.as_bytes());
        WantedLock { name: LockName::new(2, &tag), mode: LockMode::new(3, 0b1010), tag }
    }

    #[test]
    fn requests_arrive_as_they_were_sent() {
        let acquire = |wait| {
            let names = vec![lock("a"), lock("b")];
            LockCall::Acquire(AcquireCall { number: 7, locker: 3, label: -1, looked_for: true, wait, names })
        };
        let locks = vec![(lock("a").name, lock("a").mode)];
        let given_back = vec![
            GivenBack::Locks { locker: 1, locks: locks.clone() },
            GivenBack::Abandoned { locker: 2, label: 5, number: 3, locks },
            GivenBack::LookedFor { locker: 4 },
            GivenBack::Locker { locker: 5, last: 6 },
        ];
        for call in [
            LockCall::Open { node: u64::MAX, attempt: 2 },
            LockCall::Beat,
            LockCall::Reclaim {
                locks: vec![HeldLock { locker: 1, label: 2, lock: lock("c") }],
                looked_for: vec![(1, 2)],
                last: true,
            },
            acquire(LockWait::No),
            acquire(LockWait::For(None)),
            acquire(LockWait::For(Some(Duration::from_millis(5)))),
            LockCall::Release { number: 1, floor: 2, given_back },
            LockCall::Look,
        ] {
            let request = LockRequest { tenure: 1, session: u64::MAX, call };
            let bytes = LockMessage::from(request.clone()).encode_to_vec();
            assert_eq!(LockMessage::decode(&bytes[..]).unwrap().read(), Ok(request));
        }
        assert!(LockMessage::default().read().is_err());
    }

    #[test]
    fn answers_arrive_as_they_were_sent() {
        let (mode, tag, second) = (lock("a").mode, Bytes::from_static(b"a"), Duration::from_secs(1));
        let member = CircleMember { label: 1, tag: tag.clone(), mode, blocked_by: 2 };
        let waiting = WaitingLock { label: 1, tag: tag.clone(), mode, blocked_by: vec![2, 3], since: second };
        let ended = |end| EndedWait {
            label: 1,
            tag: tag.clone(),
            mode,
            blocked_by: vec![4],
            since: second,
            waited: 2 * second,
            end,
        };
        let ends = [WaitEnd::Granted, WaitEnd::TimedOut, WaitEnd::Deadlock, WaitEnd::GivenUp];
        let seen = SeenLocks {
            now: 9 * second,
            named: vec![NamedLock { label: 1, tag: tag.clone(), modes: u16::MAX }],
            waiting: vec![waiting],
            ended: ends.map(ended).to_vec(),
        };
        let mut replies = vec![
            LockReply::Opened(u64::MAX),
            LockReply::Done,
            LockReply::Lost(vec![(3, lock("b").name)]),
            LockReply::Seen(seen),
            LockReply::Unknown,
        ];
        let failures = [
            LockFailure::Held,
            LockFailure::TimedOut,
            LockFailure::Deadlock(vec![member]),
            LockFailure::TooMany,
            LockFailure::TooManyNamed,
            LockFailure::Unavailable,
        ];
        let taken = vec![Taken::Newly, Taken::Already, Taken::Held];
        for failure in std::iter::once(None).chain(failures.map(Some)) {
            replies.push(LockReply::Taken { taken: taken.clone(), failure });
        }
        for reply in replies {
            let bytes = LockAnswer::from(reply.clone()).encode_to_vec();
            assert_eq!(LockAnswer::decode(&bytes[..]).unwrap().read(), Ok(reply));
        }
        assert!(LockAnswer::default().read().is_err());
    }
}
