//! [`Reference`]: a FOREIGN KEY between its two tables. It holds the look-up statements, the errors, and the actions on
//! referring rows when the referenced key changes.

use super::parents;
use super::runner::Runner;
use crate::catalog::{ColumnId, ForeignKeyDescriptor, IndexDescriptor, IndexState, ReferentialAction, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::execution::dml::{self, KeyChange, Pending};
use crate::parse::names::quote;
use crate::types::array::ArrayValue;
use crate::types::text::output_string;
use crate::types::{Datum, SqlType};
use std::collections::HashSet;
use std::sync::Arc;

/// The qualified name as SQL: `"s"."t"`.
pub fn shown(table: &TableDescriptor) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// The name and type of a column.
pub fn column(table: &TableDescriptor, id: ColumnId) -> Result<(&str, SqlType)> {
    let column = table.column(id).ok_or_else(|| SqlError::internal("a FOREIGN KEY without its column"))?;
    Ok((&column.name, column.ty))
}

/// `x."a" = $1 AND x."b" = $2`.
fn condition(table: &TableDescriptor, ids: &[ColumnId]) -> Result<String> {
    let terms: Vec<String> = (1..)
        .zip(ids)
        .map(|(number, id)| Ok(format!("x.{} = ${number}", quote(column(table, *id)?.0))))
        .collect::<Result<_>>()?;
    Ok(terms.join(" AND "))
}

fn types(table: &TableDescriptor, ids: &[ColumnId]) -> Result<Vec<Option<SqlType>>> {
    ids.iter().map(|id| Ok(Some(column(table, *id)?.1.plain()))).collect()
}

/// `Key (a, b)=(1, 2)`.
fn key_text(context: &StatementContext, table: &TableDescriptor, ids: &[ColumnId], key: &[Datum]) -> Result<String> {
    let output = context.text_output();
    let mut names = Vec::new();
    let mut values = Vec::new();
    for (id, value) in ids.iter().zip(key) {
        let (name, ty) = column(table, *id)?;
        names.push(name);
        values.push(output_string(ty, value.to_array()?.as_ref(), 0, &output)?);
    }
    Ok(format!("Key ({})=({})", names.join(", "), values.join(", ")))
}

/// The same if the role may read the columns, else `Key`.
fn shown_key(context: &StatementContext, table: &TableDescriptor, ids: &[ColumnId], key: &[Datum]) -> Result<String> {
    match context.shows(table, ids.iter().copied()) {
        true => key_text(context, table, ids, key),
        false => Ok("Key".into()),
    }
}

/// The rows of the referring table with certain keys, as a query.
struct Matching {
    condition: String,
    types: Vec<Option<SqlType>>,
    values: Vec<Datum>,
}

/// A FOREIGN KEY and its two tables.
#[derive(Clone)]
pub struct Reference {
    /// The table that has the FOREIGN KEY.
    pub child: Arc<TableDescriptor>,
    /// The table that it refers to.
    pub parent: Arc<TableDescriptor>,
    /// The definition of the FOREIGN KEY.
    pub key: ForeignKeyDescriptor,
}

impl Reference {
    /// The FOREIGN KEY of a pending check. `None` if it was dropped meanwhile.
    pub fn of(context: &StatementContext, pending: &Pending) -> Option<Reference> {
        let (child, key) = context.catalog.foreign_key(pending.table, pending.constraint)?;
        let parent = context.catalog.relation_by_oid(key.parent)?;
        Some(Reference { child, parent, key })
    }
    /// The action on rows that refer to a changed key.
    pub fn action(&self, change: &KeyChange) -> ReferentialAction {
        match change {
            KeyChange::Referring | KeyChange::Taken => ReferentialAction::NoAction,
            KeyChange::Deleted => self.key.on_delete,
            KeyChange::Changed(_) => self.key.on_update,
        }
    }
    /// The types of the values in a key, from the table that supplied it.
    fn types_of(&self, change: &KeyChange) -> Result<Vec<Option<SqlType>>> {
        match change {
            KeyChange::Referring => types(&self.child, &self.key.columns),
            _ => types(&self.parent, &self.key.referenced),
        }
    }
    /// Whether the referenced row exists. Locks it.
    async fn parent_has(&self, runner: &mut Runner<'_>, pending: &Pending) -> Result<bool> {
        let found = condition(&self.parent, &self.key.referenced)?;
        let text = format!("SELECT 1 FROM {} x WHERE {found} FOR KEY SHARE OF x", shown(&self.parent));
        runner.finds(text, self.types_of(&pending.change)?, pending.key.clone()).await
    }
    /// The rows that refer to one of these keys.
    fn matching(&self, change: &KeyChange, keys: &[&[Datum]]) -> Result<Matching> {
        let types = self.types_of(change)?;
        if let ([id], [Some(ty)], [_, _, ..]) = (self.key.columns.as_slice(), types.as_slice(), keys) {
            let (name, own) = column(&self.child, *id)?;
            let (own, ty) = (own.plain(), *ty);
            let values = keys.iter().filter_map(|key| key.first());
            let values: Vec<Datum> = if own == ty {
                values.cloned().collect()
            } else {
                // No row holds a value outside the column's type.
                let wanted = own.arrow();
                values.filter_map(|value| value.cast_to(&wanted).ok()).filter(|value| !value.is_null()).collect()
            };
            let list = ArrayValue::datum_of(&values, own)?;
            return Ok(Matching {
                condition: if self.child_is_indexed() {
                    format!("x.{} = ANY ($1)", quote(name))
                } else {
                    // One scan of the table serves all keys.
                    format!("x.{} IN (SELECT unnest($1))", quote(name))
                },
                types: vec![Some(own.array_of())],
                values: vec![list],
            });
        }
        let key = keys.first().map(|key| key.to_vec()).unwrap_or_default();
        Ok(Matching { condition: condition(&self.child, &self.key.columns)?, types, values: key })
    }
    /// Whether an index finds the rows that refer to a key.
    fn child_is_indexed(&self) -> bool {
        let leads = |index: &IndexDescriptor| {
            index.state == IndexState::Public
                && index.predicate.is_none()
                && index.columns.first().map(|part| part.column) == self.key.columns.first().copied()
        };
        self.child.indexes.iter().any(leads)
    }
    /// Whether one query can search the referring table for several keys.
    pub fn takes_many(&self) -> bool {
        match (self.key.columns.as_slice(), self.key.referenced.as_slice()) {
            ([own], [other]) => {
                let types = (self.child.column(*own), self.parent.column(*other));
                let alike = |own: SqlType, other: SqlType| {
                    (own.plain() == other.plain() && !own.array) || parents::same_in_keys(own, other)
                };
                matches!(types, (Some(own), Some(other)) if alike(own.ty, other.ty))
            }
            _ => false,
        }
    }
    /// Whether a row refers to one of these keys. Several keys need [`Reference::takes_many`].
    pub async fn child_has(&self, runner: &mut Runner<'_>, change: &KeyChange, keys: &[&[Datum]]) -> Result<bool> {
        let Matching { condition, types, values } = self.matching(change, keys)?;
        let text = format!("SELECT 1 FROM {} x WHERE {condition} LIMIT 1", shown(&self.child));
        let gone = matches!(change, KeyChange::Deleted | KeyChange::Changed(_));
        match self.action(change) {
            // A referring row counts even if the transaction's snapshot is older. PostgreSQL checks the newest rows
            // too.
            ReferentialAction::NoAction | ReferentialAction::Restrict if gone => {
                runner.finds_newest(text, types, values).await
            }
            _ => runner.finds(text, types, values).await,
        }
    }
    /// 23503 if rows refer to a missing key.
    pub async fn hold(&self, runner: &mut Runner<'_>, pending: &Pending) -> Result<()> {
        let restrict = self.action(&pending.change) == ReferentialAction::Restrict;
        if (!restrict && self.parent_has(runner, pending).await?)
            || !self.child_has(runner, &pending.change, &[&pending.key]).await?
        {
            return Ok(());
        }
        Err(match pending.change {
            KeyChange::Referring => self.missing(runner.context, &pending.key)?,
            _ => self.needed(runner.context, &pending.key)?,
        })
    }
    fn violation(&self, message: String) -> SqlError {
        SqlError::new(state::FOREIGN_KEY_VIOLATION, message)
            .table(&self.child.schema, &self.child.name)
            .constraint(&self.key.name)
    }
    /// 23503: a row of the table refers to a missing key.
    pub fn dangling(&self) -> SqlError {
        dml::dangling(&self.child.schema, &self.child.name, &self.key.name)
    }
    /// 23503: the referenced key does not exist.
    pub fn missing(&self, context: &StatementContext, key: &[Datum]) -> Result<SqlError> {
        let text = shown_key(context, &self.child, &self.key.columns, key)?;
        Ok(self.dangling().detail(format!("{text} is not present in table \"{}\".", self.parent.name)))
    }
    /// 23503: the key is still referenced.
    fn needed(&self, context: &StatementContext, key: &[Datum]) -> Result<SqlError> {
        let text = shown_key(context, &self.parent, &self.key.referenced, key)?;
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            self.parent.name, self.key.name, self.child.name
        );
        Ok(self.violation(message).detail(format!("{text} is still referenced from table \"{}\".", self.child.name)))
    }

    /// Deletes or updates the rows that refer to removed keys, all with the same action.
    pub async fn follow(&self, runner: &mut Runner<'_>, gone: &[Pending]) -> Result<()> {
        let Some(first) = gone.first() else { return Ok(()) };
        let action = self.action(&first.change);
        if action == ReferentialAction::Cascade && matches!(first.change, KeyChange::Changed(_)) {
            return self.take_new_keys(runner, gone).await;
        }
        let set = match action {
            ReferentialAction::SetNull => Some("NULL"),
            ReferentialAction::SetDefault => Some("DEFAULT"),
            _ => None,
        };
        let table = shown(&self.child);
        let start = match set {
            None => format!("DELETE FROM {table} x"),
            Some(value) => {
                let some = first.change == KeyChange::Deleted && !self.key.set_columns.is_empty();
                let set = if some { &self.key.set_columns } else { &self.key.columns };
                let columns: Vec<String> = set
                    .iter()
                    .map(|id| Ok(format!("{} = {value}", quote(column(&self.child, *id)?.0))))
                    .collect::<Result<_>>()?;
                format!("UPDATE {table} x SET {}", columns.join(", "))
            }
        };
        let keys: Vec<&[Datum]> = gone.iter().map(|pending| pending.key.as_slice()).collect();
        for keys in keys.chunks(if self.takes_many() { super::AT_ONCE } else { 1 }) {
            let Matching { condition, types, values } = self.matching(&first.change, keys)?;
            runner.run(format!("{start} WHERE {condition}"), types, values).await?;
        }
        Ok(())
    }

    /// ON UPDATE CASCADE. Rows may exchange keys, so no row may be changed twice.
    async fn take_new_keys(&self, runner: &mut Runner<'_>, changed: &[Pending]) -> Result<()> {
        let pairs = changed.iter().filter_map(|pending| match &pending.change {
            KeyChange::Changed(new) => Some((&pending.key, new)),
            _ => None,
        });
        let pairs: Vec<(&Vec<Datum>, &Vec<Datum>)> = pairs.collect();
        let old: HashSet<&Vec<Datum>> = pairs.iter().map(|(old, _)| *old).collect();
        let apart = !pairs.iter().any(|(_, new)| old.contains(new));
        let own = types(&self.parent, &self.key.referenced)?;
        let names: Vec<String> =
            self.key.columns.iter().map(|id| Ok(quote(column(&self.child, *id)?.0))).collect::<Result<_>>()?;
        let table = shown(&self.child);
        if apart || pairs.len() == 1 {
            let found = condition(&self.child, &self.key.columns)?;
            let set: Vec<String> =
                (names.len() + 1..).zip(&names).map(|(number, name)| format!("{name} = ${number}")).collect();
            let text = format!("UPDATE {table} x SET {} WHERE {found}", set.join(", "));
            for (old, new) in pairs {
                let values = [old.as_slice(), new.as_slice()].concat();
                runner.run(text.clone(), [own.as_slice(), own.as_slice()].concat(), values).await?;
            }
            return Ok(());
        }
        let width = 2 * names.len();
        let labels: Vec<String> = (0..width).map(|place| format!("k{place}")).collect();
        let place = |at: usize| format!("v.k{at}");
        let set: Vec<String> =
            names.iter().enumerate().map(|(at, name)| format!("{name} = {}", place(names.len() + at))).collect();
        let found: Vec<String> =
            names.iter().enumerate().map(|(at, name)| format!("x.{name} = {}", place(at))).collect();
        let both: Vec<SqlType> = [own.as_slice(), own.as_slice()].concat().into_iter().flatten().collect();
        let numbered = |numbers: std::ops::Range<usize>| {
            numbers.map(|number| format!("${}", number + 1)).collect::<Vec<_>>().join(", ")
        };
        let (source, types, values) = if both.iter().any(|ty| ty.array) {
            // Arrow has no arrays of arrays for them.
            let rows = (0..pairs.len()).map(|row| format!("({})", numbered(row * width..(row + 1) * width)));
            let rows = rows.collect::<Vec<_>>().join(", ");
            let types = pairs.iter().flat_map(|_| both.iter().copied().map(Some)).collect();
            let values = pairs.iter().flat_map(|(old, new)| old.iter().chain(new.iter()).cloned()).collect();
            (format!("(VALUES {rows})"), types, values)
        } else {
            // All keys of a column are one parameter, because a statement has a limited number of parameters.
            let column =
                |at: usize| pairs.iter().filter_map(move |(old, new)| old.iter().chain(new.iter()).nth(at).cloned());
            let list = |(at, ty): (usize, &SqlType)| ArrayValue::datum_of(&column(at).collect::<Vec<_>>(), *ty);
            let values = both.iter().enumerate().map(list).collect::<std::result::Result<_, _>>()?;
            let types = both.iter().map(|ty| Some(ty.array_of())).collect();
            (format!("unnest({})", numbered(0..width)), types, values)
        };
        let text = format!(
            "UPDATE {table} x SET {} FROM {source} v ({}) WHERE {}",
            set.join(", "),
            labels.join(", "),
            found.join(" AND ")
        );
        runner.run(text, types, values).await?;
        Ok(())
    }
}
