//! [`Queue`]: the keys whose FOREIGN KEYs or deferrable unique constraints are still to be checked. Immediate ones are
//! checked at the end of the statement. Deferred ones are checked at COMMIT or by SET CONSTRAINTS.

use super::Pending;
use catalog::ForeignKeyDescriptor;
use std::collections::HashSet;
use txn::CommandNumber;
use types::Oid;

/// The effect of one SET CONSTRAINTS.
#[derive(Debug)]
struct Mode {
    said: CommandNumber,
    /// The constraints concerned. `None` means all.
    constraints: Option<Vec<Oid>>,
    deferred: bool,
}

/// The pending keys of one session. Empty between transactions.
#[derive(Debug, Default)]
pub struct Queue {
    now: Vec<Pending>,
    later: Vec<(CommandNumber, Pending)>,
    /// The keys that SET CONSTRAINTS took from `later`: the command that wrote each key, and the
    /// command that checked it.
    taken: Vec<(CommandNumber, CommandNumber, Pending)>,
    modes: Vec<Mode>,
}

impl Queue {
    /// A statement begins: drops the keys that a failed statement left.
    pub fn begin(&mut self) {
        self.now.clear();
    }
    /// Adds the keys of a finished write.
    pub fn extend(&mut self, pending: Vec<Pending>) {
        self.now.extend(pending);
    }
    /// Removes and returns the keys of the writes since the last call.
    pub fn take(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.now)
    }
    /// Whether the statement's writes left nothing to check.
    pub fn is_empty(&self) -> bool {
        self.now.is_empty()
    }
    /// Whether a FOREIGN KEY is checked at COMMIT.
    pub fn defers(&self, key: &ForeignKeyDescriptor) -> bool {
        key.deferrable && self.said(key.oid).unwrap_or(key.deferred)
    }
    /// The mode that SET CONSTRAINTS gave a constraint: deferred (true) or immediate (false). `None` if it gave none.
    pub fn said(&self, constraint: Oid) -> Option<bool> {
        let applies = |mode: &&Mode| mode.constraints.as_ref().is_none_or(|named| named.contains(&constraint));
        self.modes.iter().rfind(applies).map(|mode| mode.deferred)
    }
    /// Defers the check of a key that this command wrote.
    pub fn put_off(&mut self, command: CommandNumber, pending: Pending) {
        self.later.push((command, pending));
    }
    /// Records a SET CONSTRAINTS. `None` means all constraints.
    pub fn set(&mut self, said: CommandNumber, constraints: Option<Vec<Oid>>, deferred: bool) {
        self.modes.push(Mode { said, constraints, deferred });
    }
    /// Removes and returns the deferred keys, without duplicates.
    pub fn take_later(&mut self) -> Vec<(CommandNumber, Pending)> {
        let mut seen = HashSet::new();
        let mut later = std::mem::take(&mut self.later);
        later.retain(|(_, pending)| seen.insert(pending.clone()));
        later
    }
    /// Records that the SET CONSTRAINTS `by` checked a key that the command `written` had deferred. Rolling `by` back
    /// defers the key again: the row that made it valid may be gone too.
    pub fn looked_at(&mut self, written: CommandNumber, by: CommandNumber, pending: Pending) {
        self.taken.push((written, by, pending));
    }
    /// The keys whose checks are deferred.
    pub fn later(&self) -> impl Iterator<Item = &Pending> {
        self.later.iter().map(|(_, pending)| pending)
    }
    /// Whether a key is deferred.
    pub fn has_later(&self) -> bool {
        !self.later.is_empty()
    }
    /// ROLLBACK TO SAVEPOINT: undoes the effects of this command and later ones.
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
    /// Empties the queue at the end of the transaction.
    pub fn end(&mut self) {
        *self = Queue::default();
    }
}

/// The keys of a session that FOREIGN KEYs have yet to check.
pub fn references_of(session: &context::shared::SessionShared) -> &parking_lot::Mutex<Queue> {
    session.references.of()
}
