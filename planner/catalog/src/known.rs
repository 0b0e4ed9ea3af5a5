//! [`Known`]: a cache of stored descriptors and their parsed form. Only descriptors that changed are parsed again.

use bytes::Bytes;
use parking_lot::Mutex;
use sql_error::Result;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use txn::KeyValue;
use types::Oid;

/// Most databases whose descriptors are cached.
const DATABASES: usize = 16;

/// Parsed descriptors of one database by row key, each with the stored value.
pub(super) type Read<T> = BTreeMap<Bytes, (Bytes, Arc<T>)>;

/// A cache of parsed descriptors, by database.
pub(super) struct Known<T>(Mutex<HashMap<Oid, Arc<Read<T>>>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known(Mutex::default())
    }
}

impl<T> Known<T> {
    /// Parses `stored`. An unchanged row keeps its previous result if `holds` confirms it. Otherwise `read` parses the
    /// value, given the row's previous result. Errors: those of `read`.
    pub(super) fn read(
        &self,
        database: Oid,
        stored: Vec<KeyValue>,
        holds: impl Fn(&T) -> bool,
        mut read: impl FnMut(&Bytes, Option<&T>) -> Result<T>,
    ) -> Result<Arc<Read<T>>> {
        let before = self.0.lock().get(&database).cloned();
        let mut current = Read::new();
        for (key, value) in stored {
            let known = before.as_ref().and_then(|before| before.get_key_value(&key));
            let (key, entry) = match known {
                // Keep the old bytes, so that those of the new scan can be freed.
                Some((key, entry)) if entry.0 == value && holds(&entry.1) => (key.clone(), entry.clone()),
                known => {
                    let old = known.map(|(_, (_, old))| &**old);
                    let new = Arc::new(read(&value, old)?);
                    (key, (value, new))
                }
            };
            current.insert(key, entry);
        }
        let current = Arc::new(current);
        let mut all = self.0.lock();
        if all.len() >= DATABASES && !all.contains_key(&database) {
            all.clear();
        }
        all.insert(database, Arc::clone(&current));
        Ok(current)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn row(key: &'static str, value: &'static str) -> KeyValue {
        (Bytes::from_static(key.as_bytes()), Bytes::from_static(value.as_bytes()))
    }

    #[test]
    fn only_rows_that_changed_are_read_anew() {
        let known = Known::<String>::default();
        let read = |stored: &[KeyValue], holds: bool| {
            let mut asked = Vec::new();
            let found = known.read(
                1,
                stored.to_vec(),
                |_| holds,
                |value, old| {
                    asked.push(old.cloned());
                    Ok(String::from_utf8_lossy(value).into_owned())
                },
            );
            (found.unwrap(), asked.len())
        };
        let (a, b) = (row("a", "1"), row("b", "2"));
        let (first, asked) = read(&[a.clone(), b.clone()], true);
        assert_eq!((first.len(), asked), (2, 2));
        let (second, asked) = read(&[a.clone(), row("b", "3")], true);
        assert_eq!(asked, 1);
        assert!(Arc::ptr_eq(&first[&a.0].1, &second[&a.0].1));
        assert_eq!(*second[&b.0].1, "3");
        let (third, asked) = read(std::slice::from_ref(&a), false);
        assert_eq!((third.len(), asked), (1, 1), "what else it depends on changed");
    }
}
