//! [`Descriptors`]: the large objects that a session has open. They last for a transaction. ROLLBACK TO SAVEPOINT
//! closes the descriptors opened after the savepoint.

use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use txn::{CommandNumber, Transaction};
use types::Oid;

/// An open large object.
#[derive(Clone)]
pub struct Descriptor {
    /// The OID of the large object.
    pub oid: Oid,
    /// The byte offset of the next read or write.
    pub place: i64,
    /// The transaction and command that opened a read-only descriptor: it shows what that statement saw. `None` for a
    /// writable descriptor, which shows the newest bytes.
    pub seen: Option<(Arc<Transaction>, CommandNumber)>,
    /// The command that opened the descriptor.
    pub opened: CommandNumber,
}

/// The descriptors of one session, indexed by number.
#[derive(Default)]
pub struct Descriptors(Vec<Option<Descriptor>>);

/// 42704: no descriptor has this number.
fn invalid(number: i32) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("invalid large-object descriptor: {number}"))
}

impl Descriptors {
    /// Opens a descriptor and returns its number, the lowest free one.
    pub fn open(&mut self, descriptor: Descriptor) -> i32 {
        let free = self.0.iter().position(Option::is_none);
        let at = free.unwrap_or(self.0.len());
        match self.0.get_mut(at) {
            Some(place) => *place = Some(descriptor),
            None => self.0.push(Some(descriptor)),
        }
        i32::try_from(at).unwrap_or(i32::MAX)
    }
    /// The descriptor with this number. Errors: 42704.
    pub fn get(&mut self, number: i32) -> Result<&mut Descriptor> {
        let at = usize::try_from(number).map_err(|_| invalid(number))?;
        self.0.get_mut(at).and_then(Option::as_mut).ok_or_else(|| invalid(number))
    }
    /// Closes one descriptor. Errors: 42704.
    pub fn close(&mut self, number: i32) -> Result<()> {
        self.get(number)?;
        if let Some(place) = usize::try_from(number).ok().and_then(|at| self.0.get_mut(at)) {
            *place = None;
        }
        Ok(())
    }
    /// Closes all descriptors of one large object.
    pub fn close_object(&mut self, oid: Oid) {
        self.close_where(|descriptor| descriptor.oid == oid);
    }
    /// ROLLBACK TO SAVEPOINT: closes the descriptors that this command or a later one opened.
    pub fn rolled_back_to(&mut self, command: CommandNumber) {
        self.close_where(|descriptor| descriptor.opened >= command);
    }
    /// Closes all descriptors at the end of the transaction.
    pub fn end(&mut self) {
        self.0.clear();
    }
    fn close_where(&mut self, closes: impl Fn(&Descriptor) -> bool) {
        for place in &mut self.0 {
            if place.as_ref().is_some_and(&closes) {
                *place = None;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_savepoints_close() {
        let opened = |oid, opened| Descriptor { oid, place: 0, seen: None, opened };
        let mut all = Descriptors::default();
        assert_eq!([all.open(opened(1, 1)), all.open(opened(2, 3)), all.open(opened(1, 5))], [0, 1, 2]);
        all.close(1).unwrap();
        assert_eq!(all.close(1).unwrap_err().state(), "42704");
        assert_eq!(all.open(opened(3, 6)), 1);
        all.rolled_back_to(5);
        assert_eq!(all.get(0).unwrap().oid, 1);
        assert!(all.get(1).is_err() && all.get(2).is_err() && all.get(-1).is_err());
        all.close_object(1);
        assert!(all.get(0).is_err());
    }
}
