//! [`Difference`]: the changes between two catalogs. A plan made with the old one stays valid with the new one if the
//! changes do not concern it.

use super::{Catalog, TableDescriptor, is_temporary};
use std::collections::HashSet;
use std::sync::Arc;
use types::Oid;

/// The changes between two catalogs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Whether anything changed that any statement may depend on: roles, databases, schemas, types.
    whole: bool,
    /// Lower-case names of the relations that differ or exist in only one catalog.
    names: HashSet<String>,
    /// OIDs of these relations, and of those tied to them by FOREIGN KEYs or owned sequences.
    relations: HashSet<Oid>,
}

impl Difference {
    /// The changes from `old` to `new`.
    pub fn between(old: &Catalog, new: &Catalog) -> Difference {
        let mut difference = Difference {
            whole: old.database != new.database
                || old.databases != new.databases
                || old.roles != new.roles
                // Enums with the same OID compare equal, whatever their labels. Their descriptors do not.
                || !old.enums().eq(new.enums())
                || !same_schemas(old, new),
            ..Difference::default()
        };
        if difference.whole {
            return difference;
        }
        for (one, other) in [(old, new), (new, old)] {
            for (oid, table) in &one.relations {
                let same = other.relations.get(oid).is_some_and(|other| Arc::ptr_eq(other, table) || other == table);
                if !same {
                    difference.note(one, table);
                }
            }
        }
        difference
    }

    fn note(&mut self, catalog: &Catalog, table: &TableDescriptor) {
        self.names.insert(table.name.to_lowercase());
        self.names.extend(table.indexes.iter().map(|index| index.name.to_lowercase()));
        self.relations.insert(table.oid);
        // A write to one side of a FOREIGN KEY reads the other side.
        self.relations.extend(table.foreign_keys.iter().map(|key| key.parent));
        self.relations.extend(catalog.referencing.get(&table.oid).into_iter().flatten());
        let owner = table.sequence.as_ref().and_then(|sequence| sequence.owned_by);
        self.relations.extend(owner.map(|(owner, _)| owner));
    }

    /// Whether nothing changed for a statement with this text that refers to these relations.
    ///
    /// A changed relation's name counts wherever it occurs in the text: a new relation may hide the previous one.
    pub fn spares(&self, text: &str, relations: &[Oid]) -> bool {
        if self.whole || relations.iter().any(|oid| self.relations.contains(oid)) {
            return false;
        }
        if self.names.is_empty() {
            return true;
        }
        let text = text.to_lowercase();
        // Names with quotes inside, or written by code points, cannot be found in the text.
        let hidden = |name: &String| name.contains('"') || stands_in(&text, name);
        !text.contains("u&") && !self.names.iter().any(hidden)
    }
}

/// Whether a text contains a name as a whole word, or as the truncated part of a longer one.
fn stands_in(text: &str, name: &str) -> bool {
    /// Names of at least this many bytes may be truncated from longer ones, at a character boundary.
    const CUT: usize = 60;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        !before.is_some_and(|before| before.ends_with(is_part))
            && (name.len() >= CUT || !after.is_some_and(|after| after.starts_with(is_part)))
    })
}

/// Whether the schemas are equal, except schemas of temporary tables. These are found only by name and by the path of
/// their session, for which its statements are planned.
fn same_schemas(old: &Catalog, new: &Catalog) -> bool {
    fn lasting(catalog: &Catalog) -> impl Iterator<Item = &super::SchemaDescriptor> {
        catalog.schemas.values().map(Arc::as_ref).filter(|schema| !is_temporary(&schema.name))
    }
    lasting(old).eq(lasting(new))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::{RoleDescriptor, TableBuilder};
    use super::*;
    use types::SqlType;

    fn table(oid: Oid, name: &str) -> TableBuilder {
        TableBuilder::new(oid, name).column("a", SqlType::INT4).primary_key(&["a"])
    }

    fn catalog(tables: Vec<TableDescriptor>) -> Catalog {
        tables.into_iter().fold(Catalog::builder(&crate::NoSystem), |builder, table| builder.table(table)).build()
    }

    #[test]
    fn only_statements_about_what_changed_are_concerned() {
        let old = catalog(vec![table(1000, "goods").build(), table(2000, "orders").build()]);
        let new = catalog(vec![table(1000, "goods").build(), table(2000, "orders").column("b", SqlType::INT4).build()]);
        let difference = Difference::between(&old, &new);
        assert!(difference.spares("select * from goods", &[1000]));
        assert!(!difference.spares("select * from v", &[2000]), "by way of a view");
        assert!(!difference.spares("select 'orders'::regclass", &[]), "by its name");
        assert!(!difference.spares("select * from ORDERS", &[]));
        assert!(!difference.spares("select * from a.orders,b", &[]));
        assert!(difference.spares("select * from orders_2, preorders", &[]));
        assert!(!difference.spares("select * from u&\"\\006frders\"", &[]));
        assert_eq!(Difference::between(&old, &old), Difference::default());
    }

    #[test]
    fn what_comes_and_goes_hides_names() {
        let with = catalog(vec![table(1000, "goods").build(), table(2000, "orders").build()]);
        let without = catalog(vec![table(1000, "goods").build()]);
        for difference in [Difference::between(&with, &without), Difference::between(&without, &with)] {
            assert!(difference.spares("select * from goods", &[1000]));
            assert!(!difference.spares("select * from orders", &[3000]));
        }
    }

    #[test]
    fn both_sides_of_a_foreign_key_are_concerned() {
        use super::super::{ForeignKeyDescriptor, ReferentialAction};
        let foreign_key = || ForeignKeyDescriptor {
            oid: 1,
            name: "f".into(),
            columns: vec![1],
            parent: 1000,
            referenced: vec![1],
            index: 1001,
            on_update: ReferentialAction::NoAction,
            on_delete: ReferentialAction::NoAction,
            match_full: false,
            deferrable: true,
            deferred: false,
            not_valid: false,
            set_columns: Vec::new(),
            triggers: Default::default(),
        };
        let child = |deferred| {
            let mut child = table(2000, "orders").build();
            child.foreign_keys.push(ForeignKeyDescriptor { deferred, ..foreign_key() });
            child
        };
        let old = catalog(vec![table(1000, "goods").build(), child(false)]);
        let difference = Difference::between(&old, &catalog(vec![table(1000, "goods").build(), child(true)]));
        assert!(!difference.spares("delete from g", &[1000]));
        let renamed = catalog(vec![table(1000, "goods").column("b", SqlType::INT4).build(), child(false)]);
        assert!(!Difference::between(&old, &renamed).spares("insert into o", &[2000]));
    }

    #[test]
    fn roles_concern_all_and_schemas_of_temporary_tables_nobody() {
        let old = catalog(Vec::new());
        let role = Catalog::builder(&crate::NoSystem)
            .role(RoleDescriptor { oid: 77, name: "r".into(), ..Default::default() })
            .build();
        assert!(!Difference::between(&old, &role).spares("select 1", &[]));
        let schema = |name: &str| {
            let schema = super::super::SchemaDescriptor { oid: 88, name: name.into(), ..Default::default() };
            Catalog::builder(&crate::NoSystem).schema(schema).build()
        };
        assert!(Difference::between(&old, &schema("pg_temp_3")).spares("select 1", &[]));
        assert!(!Difference::between(&old, &schema("s")).spares("select 1", &[]));
    }
}
