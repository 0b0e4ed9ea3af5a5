//! Dependencies through FOREIGN KEYs on tables, keys and columns. DROP refuses because of them, or with CASCADE drops
//! them. TRUNCATE refuses, or with CASCADE empties the referring tables too.

use super::create_table::Making;
use super::{DdlContext, drop};
use catalog::{CatalogWriter, ColumnId, ForeignKeyDescriptor, TableDescriptor};
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Oid;

/// A FOREIGN KEY and its table.
pub(super) type Referring = (Arc<TableDescriptor>, ForeignKeyDescriptor);

/// The FOREIGN KEYs of remaining tables that refer to tables to be dropped.
pub(super) fn to_tables(context: &DdlContext, going: impl Fn(&TableDescriptor) -> bool) -> Vec<Referring> {
    let mut gone: Vec<Oid> =
        context.catalog.user_relations().filter(|table| going(table)).map(|table| table.oid).collect();
    gone.sort_unstable();
    let all = gone.iter().flat_map(|oid| context.catalog.referencing(*oid));
    all.filter(|(child, _)| !gone.contains(&child.oid)).collect()
}

/// `constraint c_a_fkey on table c`.
pub(super) fn shown(context: &DdlContext, (child, key): &Referring) -> String {
    format!("constraint {} on table {}", syntax::names::quote(&key.name), context.shown_name(child))
}

/// The detail lines of a 2BP01: the objects that depend on an object named `on`.
pub(super) fn lines(context: &DdlContext, referring: &[Referring], on: impl Fn(&Referring) -> String) -> Vec<String> {
    referring.iter().map(|found| format!("{} depends on {}", shown(context, found), on(found))).collect()
}

/// The same for FOREIGN KEYs that refer to a column, or need an index that includes it.
pub(super) fn lines_of_column(
    context: &DdlContext,
    table: &TableDescriptor,
    referring: &[Referring],
    (column, shown): (ColumnId, &str),
) -> Vec<String> {
    lines(context, referring, |(_, key)| {
        let index = table.indexes.iter().find(|index| index.oid == key.index);
        match index.filter(|_| !key.referenced.contains(&column)) {
            Some(index) => format!("index {}", index.name),
            None => shown.to_string(),
        }
    })
}

/// Removes FOREIGN KEYs from their tables. Returns their descriptions.
pub(super) async fn remove(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    referring: &[Referring],
) -> Result<Vec<String>> {
    for (child, key) in referring {
        context.take_alone(child).await?;
        // The same statement may have changed the table before.
        let Some(mut table) = writer.stored(child.oid).await? else { continue };
        table.version = child.version + 1;
        table.foreign_keys.retain(|other| other.oid != key.oid);
        writer.put_table(&table).await?;
    }
    Ok(referring.iter().map(|found| shown(context, found)).collect())
}

/// The FOREIGN KEYs that refer to an index of a table.
pub(super) fn to_index(context: &DdlContext, table: &TableDescriptor, index: Oid) -> Vec<Referring> {
    context.catalog.referencing(table.oid).into_iter().filter(|(_, key)| key.index == index).collect()
}

/// 2BP01 for an index or its constraint that FOREIGN KEYs need.
pub(super) fn index_held(context: &DdlContext, referring: &[Referring], what: &str, on: &str) -> SqlError {
    drop::dependent(what.to_string(), &lines(context, referring, |_| on.to_string()).join("\n"))
}

impl Making<'_> {
    /// Drops the FOREIGN KEYs that depend on a key or column of this table. `what` is to be dropped, and `on` is the
    /// object that they depend on. Errors: 2BP01 unless `cascade`.
    pub(super) async fn let_go(
        &mut self,
        referring: Vec<Referring>,
        cascade: bool,
        what: &str,
        on: &str,
    ) -> Result<()> {
        if referring.is_empty() {
            return Ok(());
        }
        if !cascade {
            return Err(index_held(self.context, &referring, what, on));
        }
        let gone = self.let_go_silently(referring).await?;
        drop::report_cascade(self.context, &gone);
        Ok(())
    }
    /// Removes FOREIGN KEYs from their tables. Returns their descriptions.
    pub(super) async fn let_go_silently(&mut self, referring: Vec<Referring>) -> Result<Vec<String>> {
        let (own, others): (Vec<Referring>, Vec<Referring>) =
            referring.into_iter().partition(|(child, _)| child.oid == self.table.oid);
        let mut gone: Vec<String> = own.iter().map(|found| shown(self.context, found)).collect();
        self.table.foreign_keys.retain(|key| own.iter().all(|(_, other)| other.oid != key.oid));
        gone.extend(remove(self.context, &mut self.writer, &others).await?);
        Ok(gone)
    }

    /// The FOREIGN KEYs that refer to this table in its present state.
    fn referring(&self) -> Vec<Referring> {
        let all = self.context.catalog.referencing(self.table.oid).into_iter();
        let mut all: Vec<Referring> = all.filter(|(child, _)| child.oid != self.table.oid).collect();
        let itself = Arc::new(self.table.clone());
        let own = self.table.foreign_keys.iter().filter(|key| key.parent == self.table.oid);
        all.extend(own.map(|key| (itself.clone(), key.clone())));
        all.sort_by_key(|(_, key)| key.oid);
        all
    }
    /// The FOREIGN KEYs that need an index of this table.
    pub(super) fn referring_by(&self, index: Oid) -> Vec<Referring> {
        self.referring().into_iter().filter(|(_, key)| key.index == index).collect()
    }
    /// The FOREIGN KEYs that refer to a column of this table or need an index that includes it. FOREIGN KEYs over the
    /// column itself are left out, because they are dropped with it.
    pub(super) fn referring_to(&self, column: ColumnId) -> Vec<Referring> {
        let gone_anyway = |child: &TableDescriptor, key: &ForeignKeyDescriptor| {
            child.oid == self.table.oid && key.columns.contains(&column)
        };
        let included = |key: &ForeignKeyDescriptor| {
            self.table.indexes.iter().position(|index| index.oid == key.index && index.include.contains(&column))
        };
        let needs = |key: &ForeignKeyDescriptor| key.referenced.contains(&column) || included(key).is_some();
        let mut all = self.referring();
        all.retain(|(child, key)| needs(key) && !gone_anyway(child, key));
        // A stable sort: first those that need the column itself, then the others by index.
        all.sort_by_key(|(_, key)| included(key));
        all
    }
}

/// The further tables that TRUNCATE must empty. Errors: 0A000 unless `cascade`.
pub(super) fn truncated_too(
    context: &DdlContext,
    named: &BTreeMap<Oid, TableDescriptor>,
    cascade: bool,
) -> Result<Vec<Arc<TableDescriptor>>> {
    let mut more: Vec<Arc<TableDescriptor>> = Vec::new();
    let mut open: Vec<Oid> = named.keys().copied().collect();
    while let Some(parent) = open.pop() {
        for (child, _) in context.catalog.referencing(parent) {
            if named.contains_key(&child.oid) || more.iter().any(|other| other.oid == child.oid) {
                continue;
            }
            if !cascade {
                let parent = context.catalog.relation_by_oid(parent);
                let parent = parent.map(|parent| parent.name.clone()).unwrap_or_default();
                let message = "cannot truncate a table referenced in a foreign key constraint";
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
                    .detail(format!("Table \"{}\" references \"{parent}\".", child.name))
                    .hint(format!(
                        "Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.",
                        child.name
                    )));
            }
            open.push(child.oid);
            more.push(child);
        }
    }
    Ok(more)
}
