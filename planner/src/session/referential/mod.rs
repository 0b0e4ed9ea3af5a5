//! FOREIGN KEY checks at the end of a statement. Referenced keys must exist, and they are locked so that nobody removes
//! them before COMMIT. Rows that refer to removed keys are refused or follow them. Deferrable unique constraints use
//! the same queue: no queued key may occur twice.
//!
//! Most checks are SQL within the statement's transaction, as in PostgreSQL. Locks make this free of races under
//! snapshot isolation. A referring transaction locks the row with KEY SHARE. A transaction that deletes the row or
//! changes its key writes it with UPDATE. The second of them to commit fails with 40001.

mod parents;
mod reference;
mod runner;
mod unique;

pub use crate::execution::dml::reference_queue::{Queue, references_of};
pub use unique::validate as validate_unique;

use super::database::Database;
use crate::catalog::{ForeignKeyDescriptor, ReferentialAction, TableDescriptor, said_schema};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::execution::dml::{self, KeyChange, Pending};
use crate::parse::ast::Name;
use crate::parse::fold_name;
use crate::parse::names::quote;
use crate::types::{Datum, Oid};
use reference::{Reference, column, shown};
use runner::Runner;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use unique::Unique;

/// The greatest number of keys that one query searches for in a referring table.
const AT_ONCE: usize = 4096;

/// Checks all FOREIGN KEYs that the ended statement concerns, except deferred ones. Errors: 23503, and the
/// errors of cascading writes.
pub async fn enforce(database: &Arc<Database>, context: &Arc<StatementContext>) -> Result<()> {
    if crate::session::referential::references_of(&context.session).lock().is_empty() {
        return Ok(());
    }
    let mut runner = Runner::new(database, context);
    loop {
        let all = crate::session::referential::references_of(&context.session).lock().take();
        let (taken, all): (Vec<Pending>, Vec<Pending>) =
            all.into_iter().partition(|pending| pending.change == KeyChange::Taken);
        let mut now = Vec::with_capacity(all.len());
        let mut unique = Vec::new();
        for pending in taken {
            let Some(constraint) = Unique::of(context, &pending) else { continue };
            let mut queue = crate::session::referential::references_of(&context.session).lock();
            match constraint.is_deferred(&queue) {
                true => queue.put_off(context.command, pending),
                false => unique.push((constraint, pending)),
            }
        }
        unique::hold(context, &unique).await?;
        for pending in all {
            let Some(reference) = Reference::of(context, &pending) else { continue };
            let mut queue = crate::session::referential::references_of(&context.session).lock();
            if reference.action(&pending.change) == ReferentialAction::NoAction && queue.defers(&reference.key) {
                queue.put_off(context.command, pending);
            } else {
                now.push((reference, pending));
            }
        }
        if now.is_empty() {
            return Ok(());
        }
        hold(&mut runner, now).await?;
    }
}

/// Checks the deferred keys at COMMIT. Errors: 23503.
pub async fn enforce_later(database: &Arc<Database>, context: &Arc<StatementContext>) -> Result<()> {
    let later = crate::session::referential::references_of(&context.session).lock().take_later();
    let unique: Vec<(Unique, Pending)> =
        later.iter().filter_map(|(_, pending)| Some((Unique::of(context, pending)?, pending.clone()))).collect();
    unique::hold(context, &unique).await?;
    let later = later.into_iter().filter_map(|(_, pending)| Some((Reference::of(context, &pending)?, pending)));
    let later = later.collect();
    hold(&mut Runner::new(database, context), later).await
}

/// Runs SET CONSTRAINTS. Errors: 42704, 42809, and 23503 for violations of constraints that become immediate.
pub async fn set_constraints(
    database: &Arc<Database>,
    context: &Arc<StatementContext>,
    names: Option<&[Name]>,
    deferred: bool,
) -> Result<()> {
    let constraints = names.map(|names| named(context, names, deferred)).transpose()?;
    let later = {
        let mut queue = crate::session::referential::references_of(&context.session).lock();
        queue.set(context.command, constraints, deferred);
        if deferred {
            return Ok(());
        }
        queue.take_later()
    };
    let (mut now, mut unique) = (Vec::new(), Vec::new());
    for (written, pending) in later {
        if let Some(constraint) = Unique::of(context, &pending) {
            let mut queue = crate::session::referential::references_of(&context.session).lock();
            match constraint.is_deferred(&queue) {
                true => queue.put_off(written, pending),
                false => {
                    queue.looked_at(written, context.command, pending.clone());
                    unique.push((constraint, pending));
                }
            }
            continue;
        }
        let Some(reference) = Reference::of(context, &pending) else { continue };
        let mut queue = crate::session::referential::references_of(&context.session).lock();
        if queue.defers(&reference.key) {
            queue.put_off(written, pending);
        } else {
            queue.looked_at(written, context.command, pending.clone());
            now.push((reference, pending));
        }
    }
    unique::hold(context, &unique).await?;
    hold(&mut Runner::new(database, context), now).await
}

/// Checks the names in a SET CONSTRAINTS. Errors: 42704, and 42809 for constraints that cannot be deferred.
pub fn find_constraints(context: &StatementContext, names: &[Name], deferred: bool) -> Result<()> {
    named(context, names, deferred).map(|_| ())
}

/// The constraints with these names. Constraints that cannot be deferred are omitted: they are immediate already.
fn named(context: &StatementContext, names: &[Name], deferred: bool) -> Result<Vec<Oid>> {
    let mut found = Vec::new();
    for name in names {
        let (schema, name) = fold_name(name)?;
        let path = match &schema {
            Some(schema) => vec![said_schema(schema, context.settings.search_path())],
            None => context.catalog.effective_path(context.settings.search_path()),
        };
        let mut known = false;
        for schema in path {
            for table in context.catalog.user_relations().filter(|table| table.schema == schema) {
                let index = table.indexes.iter().find(|index| index.constraint.is_some() && index.name == name);
                let others = index.is_some_and(|index| index.deferral.is_none())
                    || table.checks.iter().any(|check| check.name == name);
                let keys = table.foreign_keys.iter().filter(|key| key.name == name);
                let keys: Vec<&ForeignKeyDescriptor> = keys.collect();
                known |= others || index.is_some() || !keys.is_empty();
                if deferred && (others || keys.iter().any(|key| !key.deferrable)) {
                    let message = format!("constraint \"{name}\" is not deferrable");
                    return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
                }
                found.extend(keys.into_iter().filter(|key| key.deferrable).map(|key| key.oid));
                let deferrable = index.filter(|index| index.deferral.is_some());
                found.extend(deferrable.and_then(|index| index.constraint));
            }
            if known {
                break;
            }
        }
        if !known {
            let message = format!("constraint \"{name}\" does not exist");
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
    }
    Ok(found)
}

/// Whether the reaction to a key's change is only a check.
fn only_looks(reference: &Reference, pending: &Pending) -> bool {
    matches!(reference.action(&pending.change), ReferentialAction::NoAction | ReferentialAction::Restrict)
}

async fn hold(runner: &mut Runner<'_>, all: Vec<(Reference, Pending)>) -> Result<()> {
    let fine = fine_at_once(runner, &all).await?;
    let mut followed: HashSet<(Oid, bool)> = HashSet::new();
    for (position, (reference, pending)) in all.iter().enumerate() {
        if fine.contains(&position) {
            continue;
        }
        if only_looks(reference, pending) {
            reference.hold(runner, pending).await?;
            continue;
        }
        // All rows of one FOREIGN KEY follow together.
        let deleted = pending.change == KeyChange::Deleted;
        if !followed.insert((reference.key.oid, deleted)) {
            continue;
        }
        let alike = |other: &&(Reference, Pending)| {
            let change = &other.1.change;
            other.0.key.oid == reference.key.oid
                && *change != KeyChange::Referring
                && (*change == KeyChange::Deleted) == deleted
        };
        let gone: Vec<Pending> = all.iter().filter(alike).map(|(_, pending)| pending.clone()).collect();
        reference.follow(runner, &gone).await?;
        if reference.action(&pending.change) == ReferentialAction::SetDefault {
            // The default may be the key that was removed.
            for pending in &gone {
                reference.hold(runner, pending).await?;
            }
        }
    }
    Ok(())
}

/// The indexes of the keys that a joint look-up proves valid.
async fn fine_at_once(runner: &mut Runner<'_>, all: &[(Reference, Pending)]) -> Result<HashSet<usize>> {
    let mut fine = HashSet::new();
    let mut groups: BTreeMap<(Oid, u8), Vec<usize>> = BTreeMap::new();
    for (position, (reference, pending)) in all.iter().enumerate() {
        if only_looks(reference, pending) {
            let kind = match pending.change {
                KeyChange::Referring | KeyChange::Taken => 0,
                KeyChange::Deleted => 1,
                KeyChange::Changed(_) => 2,
            };
            groups.entry((reference.key.oid, kind)).or_default().push(position);
        }
    }
    for ((_, kind), positions) in groups {
        let members: Vec<(usize, &Reference, &Pending)> = positions
            .iter()
            .filter_map(|position| all.get(*position).map(|(reference, pending)| (*position, reference, pending)))
            .collect();
        let Some((_, reference, first)) = members.first() else { continue };
        let keys: Vec<&[Datum]> = members.iter().map(|(_, _, pending)| pending.key.as_slice()).collect();
        if kind == 0 {
            if let Some(present) = parents::find_and_lock(runner.context, reference, &keys).await? {
                let present = members.iter().zip(present).filter(|(_, present)| *present);
                fine.extend(present.map(|((position, _, _), _)| *position));
            }
        } else if reference.takes_many() {
            for chunk in members.chunks(AT_ONCE) {
                let keys: Vec<&[Datum]> = chunk.iter().map(|(_, _, pending)| pending.key.as_slice()).collect();
                if !reference.child_has(runner, &first.change, &keys).await? {
                    fine.extend(chunk.iter().map(|(position, _, _)| *position));
                }
            }
        }
    }
    Ok(fine)
}

/// Checks that every row of a table with a new FOREIGN KEY refers to an existing key. Errors: 23503.
pub async fn validate(
    database: &Arc<Database>,
    context: &Arc<StatementContext>,
    child: &Arc<TableDescriptor>,
    key: &ForeignKeyDescriptor,
) -> Result<()> {
    let parent = context.catalog.relation_by_oid(key.parent);
    let parent = parent.ok_or_else(|| SqlError::internal("a FOREIGN KEY without the table that it refers to"))?;
    let mut runner = Runner::new(database, context);
    let (mut columns, mut present, mut equal) = (Vec::new(), Vec::new(), Vec::new());
    for (own, other) in key.columns.iter().zip(&key.referenced) {
        let (own, other) = (quote(column(child, *own)?.0), quote(column(&parent, *other)?.0));
        columns.push(format!("x.{own}"));
        present.push(format!("x.{own} IS NOT NULL"));
        equal.push(format!("y.{other} = x.{own}"));
    }
    let reference = Reference { child: child.clone(), parent: parent.clone(), key: key.clone() };
    let (table, other) = (shown(child), shown(&parent));
    if key.match_full && columns.len() > 1 {
        let all = format!("({})", present.join(" AND "));
        let any = format!("({})", present.join(" OR "));
        let text = format!("SELECT 1 FROM {table} x WHERE {any} AND NOT {all} LIMIT 1");
        if runner.finds(text, Vec::new(), Vec::new()).await? {
            return Err(reference.dangling().detail(dml::MIXED));
        }
    }
    let text = format!(
        "SELECT {} FROM {table} x WHERE {} AND NOT EXISTS (SELECT 1 FROM {other} y WHERE {}) LIMIT 1",
        columns.join(", "),
        present.join(" AND "),
        equal.join(" AND ")
    );
    let found = runner.run(text, Vec::new(), Vec::new()).await?;
    match found.iter().find(|batch| batch.num_rows() > 0) {
        None => Ok(()),
        Some(batch) => {
            let key: Vec<Datum> =
                batch.columns().iter().map(|column| Ok(Datum::try_from_array(column, 0)?)).collect::<Result<_>>()?;
            Err(reference.missing(context, &key)?)
        }
    }
}
