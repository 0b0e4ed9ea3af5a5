//! LISTEN and NOTIFY among the sessions of one server. Notifications are delivered when their transaction commits. Must
//! not know the wire.

use parking_lot::Mutex;
use sql_error::{Result, SqlError, state};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use types::Oid;

/// The length limit of a channel's name in bytes, exclusive.
const NAME_BYTES: usize = 64;
/// The length limit of a payload in bytes, exclusive.
const PAYLOAD_BYTES: usize = 8000;
/// The greatest size in bytes of all notifications that wait for their listeners or for a COMMIT.
const QUEUE_BYTES: usize = 64 << 20;
/// The size in bytes of a notification without its texts.
const NOTIFICATION_BYTES: usize = size_of::<Notification>() + 32;

/// The notification of one NOTIFY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// `pg_backend_pid()` of the sender.
    pub pid: i32,
    /// The name of the channel.
    pub channel: String,
    /// The payload. Empty if NOTIFY gave none.
    pub payload: String,
}

impl Notification {
    fn bytes(&self) -> usize {
        bytes_of(&self.channel, &self.payload)
    }
}

fn bytes_of(channel: &str, payload: &str) -> usize {
    NOTIFICATION_BYTES + channel.len() + payload.len()
}

/// The bytes of all waiting notifications of a server.
#[derive(Debug, Default)]
struct Queue(AtomicUsize);

impl Queue {
    /// Errors: 54000 if the queue is full.
    fn add(&self, bytes: usize) -> Result<()> {
        if self.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= QUEUE_BYTES {
            return Ok(());
        }
        self.remove(bytes);
        Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "too many notifications in the NOTIFY queue"))
    }
    fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A share of the queue's bytes, released when dropped.
#[derive(Debug, Default)]
struct Claim {
    queue: Arc<Queue>,
    bytes: usize,
}

impl Claim {
    /// Errors: 54000 if the queue is full.
    fn grow(&mut self, bytes: usize) -> Result<()> {
        self.queue.add(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
    fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.queue.remove(bytes);
    }
    /// Moves bytes from another claim. An empty claim may belong to any queue.
    fn take(&mut self, from: &mut Claim, bytes: usize) {
        if self.bytes == 0 {
            self.queue = Arc::clone(&from.queue);
        }
        let bytes = bytes.min(from.bytes);
        from.bytes -= bytes;
        self.bytes += bytes;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

/// Notifications and the claim on their memory.
#[derive(Debug, Default)]
struct Waiting {
    notifications: VecDeque<Notification>,
    claim: Claim,
}

/// The notifications that a session received and has not yet sent to its client.
#[derive(Debug, Default)]
pub struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: tokio::sync::Notify,
    /// Whether the session ever began to listen. Before that it gets no notification.
    listened: AtomicBool,
    /// The session's channels, in the order of their LISTEN.
    channels: Mutex<Vec<String>>,
}

impl Inbox {
    /// Adds a notification. `claim` holds its bytes.
    fn put(&self, notification: Notification, claim: &mut Claim) {
        let mut waiting = self.waiting.lock();
        waiting.claim.take(claim, notification.bytes());
        waiting.notifications.push_back(notification);
        drop(waiting);
        self.arrived.notify_one();
    }
    /// Whether a notification may ever arrive.
    pub fn is_used(&self) -> bool {
        self.listened.load(Ordering::Acquire)
    }
    /// The session's channels, in the order of their LISTEN.
    pub fn channels(&self) -> Vec<String> {
        self.channels.lock().clone()
    }
    /// Removes and returns all waiting notifications.
    pub fn take(&self) -> Vec<Notification> {
        if !self.is_used() {
            return Vec::new();
        }
        std::mem::take(&mut *self.waiting.lock()).notifications.into()
    }
    /// Resolves when a notification is waiting. Cancel-safe.
    pub async fn arrived(&self) {
        while self.waiting.lock().notifications.is_empty() {
            self.arrived.notified().await;
        }
    }
}

/// The listeners of all channels, in all databases of a server.
#[derive(Debug, Default)]
pub struct Channels {
    listeners: Mutex<HashMap<(Oid, String), Vec<Weak<Inbox>>>>,
    queue: Arc<Queue>,
}

impl Channels {
    fn listen(&self, database: Oid, channel: &str, inbox: &Arc<Inbox>) {
        inbox.listened.store(true, Ordering::Release);
        let mut listeners = self.listeners.lock();
        let known = listeners.entry((database, channel.to_string())).or_default();
        known.retain(|other| other.strong_count() > 0);
        if !known.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(inbox))) {
            known.push(Arc::downgrade(inbox));
            inbox.channels.lock().push(channel.to_string());
        }
    }
    fn unlisten(&self, database: Oid, channel: Option<&str>, inbox: &Arc<Inbox>) {
        inbox.channels.lock().retain(|name| channel.is_some_and(|channel| channel != name));
        let mut listeners = self.listeners.lock();
        for ((of, name), known) in listeners.iter_mut() {
            if *of == database && channel.is_none_or(|channel| channel == name) {
                known.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(inbox)));
            }
        }
        listeners.retain(|_, known| !known.is_empty());
    }
    fn notify(&self, database: Oid, notification: &Notification, claim: &mut Claim) {
        let known = self.listeners.lock().get(&(database, notification.channel.clone())).cloned();
        for inbox in known.iter().flatten().filter_map(Weak::upgrade) {
            inbox.put(notification.clone(), claim);
        }
    }
    /// The bytes of waiting notifications, and their limit.
    pub fn queue_bytes(&self) -> (usize, usize) {
        (self.queue.0.load(Ordering::Relaxed), QUEUE_BYTES)
    }
    /// The number of sessions that listen to a channel.
    fn count(&self, database: Oid, channel: &str) -> usize {
        self.listeners.lock().get(&(database, channel.to_string())).map_or(0, Vec::len)
    }
    /// The channels that a session listens to.
    pub fn of(&self, database: Oid, inbox: &Arc<Inbox>) -> Vec<String> {
        let listeners = self.listeners.lock();
        let own = |known: &Vec<Weak<Inbox>>| known.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(inbox)));
        let found = listeners.iter().filter(|((of, _), known)| *of == database && own(known));
        let mut names: Vec<String> = found.map(|((_, name), _)| name.clone()).collect();
        names.sort_unstable();
        names
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Listen(String),
    Unlisten(Option<String>),
    Notify(String, String),
}

/// The LISTEN, UNLISTEN and NOTIFY actions of the current transaction.
#[derive(Debug, Default)]
pub struct Said {
    actions: Vec<Action>,
    /// The NOTIFY actions among them, to recognize duplicates.
    notified: HashSet<Action>,
    claim: Claim,
    /// The savepoints, each with the number of actions before it.
    marks: Vec<(String, usize)>,
}

impl Said {
    /// No actions yet. Later ones count in the queue of `channels`.
    pub fn over(channels: &Channels) -> Said {
        Said { claim: Claim { queue: Arc::clone(&channels.queue), bytes: 0 }, ..Said::default() }
    }
    /// Records a LISTEN, which COMMIT applies.
    pub fn listen(&mut self, channel: &str) {
        self.actions.push(Action::Listen(channel.to_string()));
    }
    /// Records an UNLISTEN. `None` means all channels.
    pub fn unlisten(&mut self, channel: Option<&str>) {
        self.actions.push(Action::Unlisten(channel.map(str::to_string)));
    }
    /// Records a NOTIFY, unless the transaction recorded the same before. Errors: 22023, 54000.
    pub fn notify(&mut self, channel: &str, payload: &str) -> Result<()> {
        let invalid = |message: &str| Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        if channel.is_empty() {
            return invalid("channel name cannot be empty");
        }
        if channel.len() >= NAME_BYTES {
            return invalid("channel name too long");
        }
        if payload.len() >= PAYLOAD_BYTES {
            return invalid("payload string too long");
        }
        let action = Action::Notify(channel.to_string(), payload.to_string());
        if !self.notified.contains(&action) {
            // Two copies exist until COMMIT.
            self.claim.grow(2 * bytes_of(channel, payload))?;
            self.notified.insert(action.clone());
            self.actions.push(action);
        }
        Ok(())
    }
    /// Records a SAVEPOINT of this name.
    pub fn savepoint(&mut self, name: &str) {
        self.marks.push((name.to_string(), self.actions.len()));
    }
    /// Forgets a savepoint and later ones, at RELEASE SAVEPOINT.
    pub fn release(&mut self, name: &str) {
        if let Some(at) = self.marks.iter().rposition(|(known, _)| known == name) {
            self.marks.truncate(at);
        }
    }
    /// Drops the actions since a savepoint, at ROLLBACK TO SAVEPOINT.
    pub fn rollback_to(&mut self, name: &str) {
        if let Some(at) = self.marks.iter().rposition(|(known, _)| known == name) {
            self.marks.truncate(at + 1);
            let kept = self.marks.last().map_or(0, |(_, kept)| *kept);
            for undone in self.actions.drain(kept..) {
                if let Action::Notify(channel, payload) = &undone {
                    self.claim.shrink(2 * bytes_of(channel, payload));
                    self.notified.remove(&undone);
                }
            }
        }
    }
    /// Drops all actions, after a rollback.
    pub fn forget(&mut self) {
        let queue = Arc::clone(&self.claim.queue);
        *self = Said { claim: Claim { queue, bytes: 0 }, ..Said::default() };
    }
    /// Reserves memory for the deliveries before a commit. Errors: 54000 if the queue is full.
    pub fn prepare(&mut self, channels: &Channels, database: Oid) -> Result<()> {
        let mut bytes = 0usize;
        for action in &self.notified {
            if let Action::Notify(channel, payload) = action {
                // Plus one: this session may begin to listen.
                let listeners = channels.count(database, channel) + 1;
                bytes = bytes.saturating_add(listeners * bytes_of(channel, payload));
            }
        }
        match bytes.checked_sub(self.claim.bytes) {
            Some(more) if more > 0 => self.claim.grow(more),
            _ => Ok(()),
        }
    }
    /// Applies the actions after a commit: registers listeners and delivers the notifications.
    pub fn commit(&mut self, channels: &Channels, database: Oid, pid: i32, inbox: &Arc<Inbox>) {
        let mut said = std::mem::replace(self, Said::over(channels));
        for action in &said.actions {
            match action {
                Action::Listen(channel) => channels.listen(database, channel, inbox),
                Action::Unlisten(channel) => channels.unlisten(database, channel.as_deref(), inbox),
                Action::Notify(..) => {}
            }
        }
        for action in std::mem::take(&mut said.actions) {
            if let Action::Notify(channel, payload) = action {
                channels.notify(database, &Notification { pid, channel, payload }, &mut said.claim);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    const DATABASE: Oid = 1;

    /// Commits a transaction with this many notifications of 1 kB. Errors: 54000.
    fn say(channels: &Channels, inbox: &Arc<Inbox>, count: usize) -> Result<()> {
        let mut said = Said::over(channels);
        for number in 0..count {
            said.notify("c", &format!("{number:01000}"))?;
        }
        said.prepare(channels, DATABASE)?;
        said.commit(channels, DATABASE, 1, inbox);
        Ok(())
    }

    #[test]
    fn notifications_wait_in_a_bounded_queue() {
        let (channels, inbox, other) = (Channels::default(), Arc::default(), Arc::default());
        channels.listen(DATABASE, "c", &inbox);
        let mut commits = 0;
        let error = loop {
            match say(&channels, &other, 1000) {
                Ok(()) => commits += 1,
                Err(error) => break error,
            }
            assert!(commits < 1000);
        };
        assert_eq!((error.state(), commits > 10), ("54000", true), "{commits}");
        // Only the refused notifications are missing.
        assert_eq!(inbox.take().len(), commits * 1000);
        assert_eq!(channels.queue.0.load(Ordering::Relaxed), 0);
        assert!(say(&channels, &other, 1000).is_ok());
        channels.unlisten(DATABASE, None, &inbox);
        drop(inbox);
        assert_eq!(channels.queue.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_undone_leaves_the_queue() {
        let channels = Channels::default();
        let mut said = Said::over(&channels);
        said.notify("c", "one").unwrap();
        let one = channels.queue.0.load(Ordering::Relaxed);
        said.savepoint("s");
        said.notify("c", "two").unwrap();
        said.notify("c", "one").unwrap();
        said.rollback_to("s");
        assert_eq!(channels.queue.0.load(Ordering::Relaxed), one);
        said.notify("c", "two").unwrap();
        assert!(channels.queue.0.load(Ordering::Relaxed) > one);
        said.forget();
        assert_eq!(channels.queue.0.load(Ordering::Relaxed), 0);
    }
}
