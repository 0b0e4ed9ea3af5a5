//! [`Portals`]: statements with bound parameters, before they run or between two fetches of rows.

use super::rows::{Formats, Rows};
use foldhash::fast::RandomState;
use planner::session::{CommandNumber, Prepared};
use planner::types::Datum;
use planner::{SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;

/// Named portals of one connection, at most.
const MOST: usize = 10_000;

/// A statement with its parameters bound.
pub struct Portal {
    /// The statement to run; `None` is the empty query.
    pub statement: Option<Arc<Prepared>>,
    /// Formats of the result columns.
    pub formats: Formats,
    /// Progress of the portal.
    pub state: PortalState,
    /// The last command of the transaction block before Bind; `None` outside a block.
    pub after: Option<CommandNumber>,
}

/// Progress of a portal's statement.
pub enum PortalState {
    /// Not run yet. Holds the parameters.
    Bound(Vec<Datum>),
    /// Rows remain. Boxed, because streams are large beside the other variants.
    Suspended(Box<Rows>),
    /// All rows of a SELECT were sent. Another Execute gives none.
    Exhausted,
    /// The command has run and returns no rows.
    Finished,
}

/// Portals of one connection; they live until their transaction ends. The empty name is the unnamed portal. It is
/// stored outside the map, because most clients use no other.
#[derive(Default)]
pub struct Portals {
    unnamed: Option<Portal>,
    by_name: HashMap<String, Portal, RandomState>,
}

impl Portals {
    /// Adds a portal. Errors: 42P03 for a name in use, except the unnamed portal.
    pub fn insert(&mut self, name: String, portal: Portal) -> Result<(), SqlError> {
        self.check_free(&name)?;
        self.put_back(name, portal);
        Ok(())
    }

    /// Errors: 42P03 if the name is in use.
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

    /// The portal of a name. Errors: 34000 for an unknown name.
    pub fn get(&self, name: &str) -> Result<&Portal, SqlError> {
        let portal = if name.is_empty() { self.unnamed.as_ref() } else { self.by_name.get(name) };
        portal.ok_or_else(|| missing(name))
    }

    /// Removes a portal to run it. The caller returns it by [`Portals::put_back`]. Errors: 34000 for an unknown name.
    pub fn take(&mut self, name: &str) -> Result<Portal, SqlError> {
        let portal = if name.is_empty() { self.unnamed.take() } else { self.by_name.remove(name) };
        portal.ok_or_else(|| missing(name))
    }

    /// Returns a portal that [`Portals::take`] removed.
    pub fn put_back(&mut self, name: String, portal: Portal) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.by_name.insert(name, portal);
        }
    }

    /// Removes a portal. An unknown name is no error.
    pub fn remove(&mut self, name: &str) {
        if name.is_empty() {
            self.unnamed = None;
        } else {
            self.by_name.remove(name);
        }
    }

    /// Removes the portals that were bound at or after the savepoint.
    pub fn rolled_back_to(&mut self, savepoint: CommandNumber) {
        let stays = |portal: &Portal| portal.after.is_none_or(|after| after < savepoint);
        self.unnamed = self.unnamed.take().filter(stays);
        self.by_name.retain(|_, portal| stays(portal));
    }

    /// Removes all portals, because their transaction has ended.
    pub fn clear(&mut self) {
        self.unnamed = None;
        if !self.by_name.is_empty() {
            self.by_name.clear();
        }
    }
}

/// 42P03: the name is in use.
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
