//! Keys that one CREATE TABLE declares twice (`id int PRIMARY KEY UNIQUE`): PostgreSQL makes a single index for them.
//! Must not know indexes.

use super::create_table::Constraint;

/// Removes UNIQUE constraints that repeat a PRIMARY KEY or an earlier UNIQUE. The first one takes over a name
/// if it has none.
pub(super) fn without_repeats(mut constraints: Vec<Constraint<'_>>) -> Vec<Constraint<'_>> {
    // Primary keys come first, wherever they were written. The sort is stable.
    let mut order: Vec<usize> = (0..constraints.len()).filter(|at| constraints.get(*at).is_some_and(is_key)).collect();
    order.sort_by_key(|at| !matches!(constraints.get(*at), Some(Constraint::Primary { .. })));
    let mut kept: Vec<usize> = Vec::new();
    let mut repeats = Vec::new();
    for at in order {
        let Some(constraint) = constraints.get(at) else { continue };
        let before = kept.iter().copied().find(|other| {
            let same = |other: &Constraint<'_>| declared(other) == declared(constraint);
            matches!(constraint, Constraint::Unique { .. }) && constraints.get(*other).is_some_and(same)
        });
        let Some(before) = before else {
            kept.push(at);
            continue;
        };
        repeats.push(at);
        let (Constraint::Unique { name: given, .. } | Constraint::Primary { name: given, .. }) = constraint else {
            continue;
        };
        let given = *given;
        if let Some(Constraint::Unique { name, .. } | Constraint::Primary { name, .. }) = constraints.get_mut(before) {
            *name = name.or(given);
        }
    }
    let mut at = 0..;
    constraints.retain(|_| at.next().is_none_or(|at| !repeats.contains(&at)));
    constraints
}

fn is_key(constraint: &Constraint<'_>) -> bool {
    matches!(constraint, Constraint::Primary { .. } | Constraint::Unique { .. })
}

/// The declaration of a key: its columns, included columns, treatment of NULLs, and time of checking.
fn declared<'c>(constraint: &'c Constraint<'_>) -> Option<(&'c [String], &'c [String], bool, Option<bool>)> {
    match constraint {
        Constraint::Primary { columns, include, deferred, .. } => Some((columns, include, false, *deferred)),
        Constraint::Unique { columns, include, nulls_not_distinct, deferred, .. } => {
            Some((columns, include, *nulls_not_distinct, *deferred))
        }
        Constraint::Check { .. } | Constraint::Foreign { .. } => None,
    }
}
