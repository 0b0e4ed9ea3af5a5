//! [`SettingsStack`]: the effect of transactions on settings. SET lasts if its transaction commits. SET LOCAL lasts
//! until its transaction ends. Rolling back to a savepoint undoes both.

use super::{Characteristics, Settings};
use sql_error::Result;
use std::sync::Arc;

/// The two values of every setting at one moment.
#[derive(Clone, Debug)]
struct Level {
    current: Arc<Settings>,
    /// The values after COMMIT, without SET LOCAL.
    session: Arc<Settings>,
}

/// A session's settings and their history in the current transaction.
#[derive(Clone, Debug)]
pub struct SettingsStack {
    level: Level,
    /// The values at the start of the session, for RESET.
    reset: Arc<Settings>,
    /// The values at BEGIN, then at each savepoint.
    saved: Vec<Level>,
}

impl SettingsStack {
    /// A stack that begins with the settings after the start-up options.
    pub fn new(settings: Settings) -> Self {
        let settings = Arc::new(settings);
        SettingsStack {
            level: Level { current: settings.clone(), session: settings.clone() },
            reset: settings,
            saved: Vec::new(),
        }
    }
    /// The settings at present, including SET LOCAL.
    pub fn current(&self) -> &Arc<Settings> {
        &self.level.current
    }
    /// Runs SET, or SET LOCAL if `local`.
    pub fn set(&mut self, name: &str, value: &str, local: bool) -> Result<()> {
        self.change(local, |settings| settings.with(name, value))
    }
    /// RESET: restores one setting's initial value.
    pub fn reset(&mut self, name: &str) -> Result<()> {
        let reset = self.reset.clone();
        self.change(false, |settings| settings.with_reset(name, &reset))
    }
    /// The value of a setting at the start of the session.
    pub fn first(&self, name: &str) -> Option<String> {
        self.reset.get(name)
    }
    /// RESET ALL: restores all initial values.
    pub fn reset_all(&mut self) {
        // The characteristics of the current transaction are kept.
        let mut settings = self.reset.as_ref().clone();
        let kept = ["role", "session_authorization", "is_superuser"];
        for name in kept {
            if let Some(known) = self.level.current.get(name).and_then(|value| settings.with_fixed(name, &value).ok()) {
                settings = known;
            }
        }
        let session = Arc::new(settings).knowing(&self.level.current);
        let current = Arc::new(session.in_transaction(self.level.current.transaction()));
        self.level = Level { current, session };
    }
    /// Sets a value of the session's own choice until the end of the transaction.
    pub fn set_fixed_local(&mut self, name: &str, value: &str) -> Result<()> {
        self.change(true, |settings| settings.with_fixed(name, value))
    }
    /// Sets a value of the session's own choice, whether or not the transaction commits.
    pub fn set_fixed(&mut self, name: &str, value: &str) -> Result<()> {
        self.change(false, |settings| settings.with_fixed(name, value))
    }
    /// Sets the session's schema of temporary tables, whether or not the transaction commits.
    pub fn set_temporary(&mut self, schema: &str) {
        let with = |settings: &Arc<Settings>| Arc::new(settings.with_temporary(schema));
        self.reset = with(&self.reset);
        for level in self.saved.iter_mut().chain(std::iter::once(&mut self.level)) {
            *level = Level { current: with(&level.current), session: with(&level.session) };
        }
    }
    fn change(&mut self, local: bool, change: impl Fn(&Settings) -> Result<Settings>) -> Result<()> {
        let current = Arc::new(change(&self.level.current)?);
        if !local {
            self.level.session = Arc::new(change(&self.level.session)?);
        }
        self.level.current = current;
        Ok(())
    }
    /// Marks the start of a transaction with these characteristics.
    pub fn begin(&mut self, transaction: Characteristics) {
        self.push();
        // Usually the transaction before had the same characteristics.
        if self.level.current.transaction() != transaction {
            self.level.current = Arc::new(self.level.current.in_transaction(transaction));
        }
    }
    /// SET TRANSACTION: changes the transaction's characteristics.
    pub fn change_transaction(&mut self, change: impl FnOnce(&mut Characteristics)) {
        let mut transaction = self.level.current.transaction();
        change(&mut transaction);
        self.level.current = Arc::new(self.level.current.in_transaction(transaction));
    }
    /// Marks a savepoint with the present values.
    pub fn push(&mut self) {
        self.saved.push(self.level.clone());
    }
    /// The number of marks, to pass to `release` and `rollback_to`.
    pub fn height(&self) -> usize {
        self.saved.len()
    }
    /// Forgets marks above `height` and keeps the values.
    pub fn release(&mut self, height: usize) {
        self.saved.truncate(height);
    }
    /// Restores the values at mark `height` (counted from 0) and keeps that mark.
    pub fn rollback_to(&mut self, height: usize) {
        if let Some(level) = self.saved.get(height) {
            let undone = self.level.current.clone();
            let known = |settings: &Arc<Settings>| settings.knowing(&undone);
            self.level = Level { current: known(&level.current), session: known(&level.session) };
            self.saved.truncate(height + 1);
        }
    }
    /// Ends SET LOCAL, after a commit.
    pub fn commit(&mut self) {
        self.saved.clear();
        self.end_local();
    }
    /// Undoes all changes since the start of the transaction.
    pub fn rollback(&mut self) {
        let undone = self.level.current.clone();
        if let Some(level) = self.saved.drain(..).next() {
            self.level = level;
        }
        self.level.session = self.level.session.knowing(&undone);
        self.end_local();
    }
    /// Undoes SET LOCAL. Custom settings that it introduced stay known.
    fn end_local(&mut self) {
        let session = self.level.session.knowing(&self.level.current);
        self.level = Level { current: session.clone(), session };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn name(stack: &SettingsStack) -> String {
        stack.current().get("application_name").unwrap()
    }

    #[test]
    fn set_lasts_with_commit_only_and_local_never() {
        let mut stack = SettingsStack::new(Settings::default());
        stack.push();
        stack.set("application_name", "a", false).unwrap();
        stack.set("application_name", "b", true).unwrap();
        assert_eq!(name(&stack), "b");
        stack.commit();
        assert_eq!(name(&stack), "a");
        stack.push();
        stack.set("application_name", "c", false).unwrap();
        stack.rollback();
        assert_eq!(name(&stack), "a");
    }

    #[test]
    fn savepoints_take_settings_back() {
        let mut stack = SettingsStack::new(Settings::default());
        stack.push();
        stack.set("application_name", "a", false).unwrap();
        let height = stack.height();
        stack.push();
        stack.set("application_name", "b", false).unwrap();
        stack.rollback_to(height);
        assert_eq!(name(&stack), "a");
        stack.set("application_name", "c", false).unwrap();
        stack.rollback_to(height);
        assert_eq!(name(&stack), "a");
        stack.release(height);
        stack.commit();
        assert_eq!(name(&stack), "a");
    }

    #[test]
    fn reset_all() {
        let mut stack = SettingsStack::new(Settings::default().with("application_name", "psql").unwrap());
        stack.set("application_name", "x", false).unwrap();
        stack.reset_all();
        assert_eq!(name(&stack), "psql");
    }
}
