//! [`Queue`]: the keys that FOREIGN KEYs and deferrable unique constraints are still to be held to: at the end of the statement under way, and, of those
//! that are deferred, at COMMIT or when SET CONSTRAINTS says so.

use crate::catalog::ForeignKeyDescriptor;
use crate::execution::dml::Pending;
use crate::types::Oid;
use std::collections::HashSet;
use txn::CommandNumber;

/// What SET CONSTRAINTS said.
#[derive(Debug)]
struct Mode {
    said: CommandNumber,
    /// `None`: of all constraints.
    constraints: Option<Vec<Oid>>,
    deferred: bool,
}

/// Keys of one session. Empty between transactions.
#[derive(Debug, Default)]
pub struct Queue {
    now: Vec<Pending>,
    later: Vec<(CommandNumber, Pending)>,
    /// What SET CONSTRAINTS has taken from `later`, by the command that wrote it and the one that took it.
    taken: Vec<(CommandNumber, CommandNumber, Pending)>,
    modes: Vec<Mode>,
}

impl Queue {
    /// A statement begins: what one that failed left is of no interest.
    pub fn begin(&mut self) {
        self.now.clear();
    }
    /// A write of the statement has ended.
    pub fn extend(&mut self, pending: Vec<Pending>) {
        self.now.extend(pending);
    }
    /// What the writes since the last call did.
    pub fn take(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.now)
    }
    /// Whether the statement's writes did anything.
    pub fn is_empty(&self) -> bool {
        self.now.is_empty()
    }
    /// Whether a FOREIGN KEY's checks wait for COMMIT.
    pub fn defers(&self, key: &ForeignKeyDescriptor) -> bool {
        key.deferrable && self.said(key.oid).unwrap_or(key.deferred)
    }
    /// Whether SET CONSTRAINTS has made a deferrable constraint wait for COMMIT, or not wait.
    pub fn said(&self, constraint: Oid) -> Option<bool> {
        let applies = |mode: &&Mode| mode.constraints.as_ref().is_none_or(|named| named.contains(&constraint));
        self.modes.iter().rfind(applies).map(|mode| mode.deferred)
    }
    /// Puts a key off that a statement with this number wrote.
    pub fn put_off(&mut self, command: CommandNumber, pending: Pending) {
        self.later.push((command, pending));
    }
    /// SET CONSTRAINTS. `None`: all.
    pub fn set(&mut self, said: CommandNumber, constraints: Option<Vec<Oid>>, deferred: bool) {
        self.modes.push(Mode { said, constraints, deferred });
    }
    /// What was put off, each key once.
    pub fn take_later(&mut self) -> Vec<(CommandNumber, Pending)> {
        let mut seen = HashSet::new();
        let mut later = std::mem::take(&mut self.later);
        later.retain(|(_, pending)| seen.insert(pending.clone()));
        later
    }
    /// SET CONSTRAINTS with the number `by` looks at a key that a statement with the number `written` had put off. Should it be rolled
    /// back, nobody has looked: what made the key right may be gone with it.
    pub fn looked_at(&mut self, written: CommandNumber, by: CommandNumber, pending: Pending) {
        self.taken.push((written, by, pending));
    }
    /// What was put off.
    pub fn later(&self) -> impl Iterator<Item = &Pending> {
        self.later.iter().map(|(_, pending)| pending)
    }
    /// Whether anything was put off.
    pub fn has_later(&self) -> bool {
        !self.later.is_empty()
    }
    /// ROLLBACK TO SAVEPOINT: what this command and later ones did is undone.
    pub fn rolled_back_to(&mut self, command: CommandNumber) {
        self.now.clear();
        self.later.retain(|(written, _)| *written < command);
        let undone =
            |(written, by, _): &mut (CommandNumber, CommandNumber, Pending)| *written >= command || *by >= command;
        let undone: Vec<_> = self.taken.extract_if(.., undone).collect();
        let again = undone.into_iter().filter(|(written, _, _)| *written < command);
        self.later.extend(again.map(|(written, _, pending)| (written, pending)));
        self.modes.retain(|mode| mode.said < command);
    }
    /// The transaction has ended.
    pub fn end(&mut self) {
        *self = Queue::default();
    }
}
