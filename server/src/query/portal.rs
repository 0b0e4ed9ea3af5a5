//! [`Portals`]: statements with their parameters bound, ready to run or half way through their rows.

use super::rows::{Formats, Rows};
use foldhash::fast::RandomState;
use planner::session::{CommandNumber, Prepared};
use planner::types::Datum;
use planner::{SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;

/// Named portals of one connection, at most.
const MOST: usize = 10_000;

/// A bound statement.
pub struct Portal {
    /// What it runs; `None` is the empty query.
    pub statement: Option<Arc<Prepared>>,
    /// Formats of its result columns.
    pub formats: Formats,
    /// How far it is.
    pub state: PortalState,
    /// The last command of the block before it was bound; `None` outside a block.
    pub after: Option<CommandNumber>,
}

/// How far a portal is.
pub enum PortalState {
    /// Not run yet; holds the parameters.
    Bound(Vec<Datum>),
    /// Rows are left. Boxed: streams are large beside the rest.
    Suspended(Box<Rows>),
    /// All rows of a SELECT were sent: running it again gives none.
    Exhausted,
    /// It was a command, and has run.
    Finished,
}

/// Portals of one connection. The empty name is the unnamed portal, which is looked up nowhere: it is all that most clients
/// have. They live until their transaction ends.
#[derive(Default)]
pub struct Portals {
    unnamed: Option<Portal>,
    by_name: HashMap<String, Portal, RandomState>,
}

impl Portals {
    /// Keeps a portal. Errors: 42P03 for a name in use, the unnamed one excepted.
    pub fn insert(&mut self, name: String, portal: Portal) -> Result<(), SqlError> {
        self.check_free(&name)?;
        self.put_back(name, portal);
        Ok(())
    }

    /// Refuses a name in use: 42P03.
    pub fn check_free(&self, name: &str) -> Result<(), SqlError> {
        if name.is_empty() {
            return Ok(());
        }
        if self.by_name.contains_key(name) {
            return Err(already_there(name));
        }
        if self.by_name.len() >= MOST {
            return Err(SqlError::new("53400", "too many portals").detail(format!("A connection may have {MOST}.")));
        }
        Ok(())
    }

    /// The portal of a name, or 34000.
    pub fn get(&self, name: &str) -> Result<&Portal, SqlError> {
        let portal = if name.is_empty() { self.unnamed.as_ref() } else { self.by_name.get(name) };
        portal.ok_or_else(|| missing(name))
    }

    /// Takes a portal out to run it, or 34000. The runner puts it back.
    pub fn take(&mut self, name: &str) -> Result<Portal, SqlError> {
        let portal = if name.is_empty() { self.unnamed.take() } else { self.by_name.remove(name) };
        portal.ok_or_else(|| missing(name))
    }

    /// Puts a portal back that was taken.
    pub fn put_back(&mut self, name: String, portal: Portal) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.by_name.insert(name, portal);
        }
    }

    /// Forgets a name; an unknown one is no error.
    pub fn remove(&mut self, name: &str) {
        if name.is_empty() {
            self.unnamed = None;
        } else {
            self.by_name.remove(name);
        }
    }

    /// Forgets those that were bound from a savepoint on, to which the transaction goes back.
    pub fn rolled_back_to(&mut self, savepoint: CommandNumber) {
        let stays = |portal: &Portal| portal.after.is_none_or(|after| after < savepoint);
        self.unnamed = self.unnamed.take().filter(stays);
        self.by_name.retain(|_, portal| stays(portal));
    }

    /// Forgets all: their transaction is over.
    pub fn clear(&mut self) {
        self.unnamed = None;
        if !self.by_name.is_empty() {
            self.by_name.clear();
        }
    }
}

/// 42P03 for a name in use.
pub fn already_there(name: &str) -> SqlError {
    SqlError::new(state::DUPLICATE_CURSOR, format!("cursor \"{name}\" already exists"))
}

fn missing(name: &str) -> SqlError {
    SqlError::new(state::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn portal() -> Portal {
        Portal { statement: None, formats: Formats::text(), state: PortalState::Finished, after: None }
    }

    #[test]
    fn names_are_taken_once_except_the_unnamed() {
        let mut portals = Portals::default();
        portals.insert(String::new(), portal()).unwrap();
        portals.insert(String::new(), portal()).unwrap();
        portals.insert("c".into(), portal()).unwrap();
        assert_eq!(portals.insert("c".into(), portal()).unwrap_err().state(), "42P03");
        assert_eq!(portals.get("d").err().unwrap().state(), "34000");
        portals.clear();
        assert!(portals.get("").is_err());
        assert!(portals.get("c").is_err());
    }

    #[test]
    fn a_portal_is_taken_and_put_back_by_its_name() {
        let mut portals = Portals::default();
        for name in ["", "c"] {
            portals.insert(name.into(), portal()).unwrap();
            let taken = portals.take(name).unwrap();
            assert_eq!(portals.take(name).err().unwrap().state(), "34000");
            portals.put_back(name.into(), taken);
            assert!(portals.get(name).is_ok());
            portals.remove(name);
            assert!(portals.get(name).is_err());
        }
    }
}
