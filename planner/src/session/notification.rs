//! LISTEN and NOTIFY among the sessions of one server: what a transaction says is said when it commits. Must not know
//! the wire.

use crate::error::{Result, SqlError, state};
use crate::types::Oid;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Bytes of a channel's name, and one more.
const NAME_BYTES: usize = 64;
/// Bytes of a payload, and one more.
const PAYLOAD_BYTES: usize = 8000;

/// What NOTIFY said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// `pg_backend_pid()` of who said it.
    pub pid: i32,
    /// Channel.
    pub channel: String,
    /// Payload; empty for none.
    pub payload: String,
}

/// What a session was told, and its client not yet.
#[derive(Debug, Default)]
pub struct Inbox {
    waiting: Mutex<VecDeque<Notification>>,
    arrived: tokio::sync::Notify,
    /// Whether its session ever began to listen: nothing comes before.
    listened: AtomicBool,
    /// The channels that its session listens to, in the order in which it began to.
    channels: Mutex<Vec<String>>,
}

impl Inbox {
    fn put(&self, notification: Notification) {
        self.waiting.lock().push_back(notification);
        self.arrived.notify_one();
    }
    /// Whether something may come.
    pub fn is_used(&self) -> bool {
        self.listened.load(Ordering::Acquire)
    }
    /// The channels that its session listens to, in the order in which it began to.
    pub fn channels(&self) -> Vec<String> {
        self.channels.lock().clone()
    }
    /// Takes what is there.
    pub fn take(&self) -> Vec<Notification> {
        if !self.is_used() {
            return Vec::new();
        }
        self.waiting.lock().drain(..).collect()
    }
    /// Resolves when something is there. Cancel-safe.
    pub async fn arrived(&self) {
        while self.waiting.lock().is_empty() {
            self.arrived.notified().await;
        }
    }
}

/// Who listens to what, in all databases of a server.
#[derive(Debug, Default)]
pub struct Channels {
    listeners: Mutex<HashMap<(Oid, String), Vec<Weak<Inbox>>>>,
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
    fn notify(&self, database: Oid, notification: &Notification) {
        let known = self.listeners.lock().get(&(database, notification.channel.clone())).cloned();
        for inbox in known.iter().flatten().filter_map(Weak::upgrade) {
            inbox.put(notification.clone());
        }
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

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Listen(String),
    Unlisten(Option<String>),
    Notify(String, String),
}

/// What a transaction has said so far.
#[derive(Debug, Default)]
pub struct Said {
    actions: Vec<Action>,
    /// Savepoints, and how much was said before each.
    marks: Vec<(String, usize)>,
}

impl Said {
    /// LISTEN.
    pub fn listen(&mut self, channel: &str) {
        self.actions.push(Action::Listen(channel.to_string()));
    }
    /// UNLISTEN; none: from everything.
    pub fn unlisten(&mut self, channel: Option<&str>) {
        self.actions.push(Action::Unlisten(channel.map(str::to_string)));
    }
    /// NOTIFY: what is said twice is said once. Errors: 22023.
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
        if !self.actions.contains(&action) {
            self.actions.push(action);
        }
        Ok(())
    }
    /// SAVEPOINT.
    pub fn savepoint(&mut self, name: &str) {
        self.marks.push((name.to_string(), self.actions.len()));
    }
    /// RELEASE SAVEPOINT.
    pub fn release(&mut self, name: &str) {
        if let Some(at) = self.marks.iter().rposition(|(known, _)| known == name) {
            self.marks.truncate(at);
        }
    }
    /// ROLLBACK TO SAVEPOINT.
    pub fn rollback_to(&mut self, name: &str) {
        if let Some(at) = self.marks.iter().rposition(|(known, _)| known == name) {
            self.marks.truncate(at + 1);
            let kept = self.marks.last().map_or(0, |(_, kept)| *kept);
            self.actions.truncate(kept);
        }
    }
    /// The transaction rolled back.
    pub fn forget(&mut self) {
        *self = Said::default();
    }
    /// The transaction committed: who began to listen hears, and everybody is told.
    pub fn commit(&mut self, channels: &Channels, database: Oid, pid: i32, inbox: &Arc<Inbox>) {
        let said = std::mem::take(self);
        for action in &said.actions {
            match action {
                Action::Listen(channel) => channels.listen(database, channel, inbox),
                Action::Unlisten(channel) => channels.unlisten(database, channel.as_deref(), inbox),
                Action::Notify(..) => {}
            }
        }
        for action in said.actions {
            if let Action::Notify(channel, payload) = action {
                channels.notify(database, &Notification { pid, channel, payload });
            }
        }
    }
}
