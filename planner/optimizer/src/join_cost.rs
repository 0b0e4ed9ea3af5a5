//! [`Joining`]: the cost of join orders, in rows that are read or made.

use catalog::{IndexState, TableDescriptor};
use datafusion::logical_expr::Expr;
use executor::condition::conditions;
use executor::statistics::selectivity::{distinct_values, rows_left};
use std::collections::HashMap;

/// A lookup by a key costs about as much as scanning this many rows.
const LOOKUP: f64 = 4.0;
/// The estimated share of pairs that a condition keeps without statistics.
const SOME: f64 = 1.0 / 3.0;

/// A table and the effect of its filters.
#[derive(Debug)]
pub struct JoinedTable {
    /// Number of rows in the table.
    all: f64,
    /// Cost of finding the rows that its filters keep, in rows read in order.
    read: f64,
    /// Rows that its filters keep.
    rows: f64,
    /// Number of distinct values by column.
    distinct: HashMap<String, f64>,
    /// Columns of each index, and whether it is unique.
    indexes: Vec<(Vec<String>, bool)>,
}

impl JoinedTable {
    /// A table with filters. `None` without statistics.
    pub fn new(table: &TableDescriptor, filters: &[Expr]) -> Option<JoinedTable> {
        let all = table.statistics.as_ref()?.rows.max(1.0);
        let distinct = table
            .live_columns()
            .filter_map(|column| Some((column.name.clone(), distinct_values(table, column.id, column.ty)?)));
        let usable = |index: &&catalog::IndexDescriptor| {
            (index.primary || index.state == IndexState::Public) && index.predicate.is_none()
        };
        let indexes = table.indexes.iter().filter(usable).map(|index| {
            let names = index.columns.iter().map_while(|key| Some(table.column(key.column)?.name.clone()));
            (names.collect(), index.unique || index.primary)
        });
        let rows = rows_left(table, filters)?;
        let indexes: Vec<(Vec<String>, bool)> = indexes.collect();
        let bounded =
            filters.iter().flat_map(|filter| conditions(filter, table).unwrap_or_default()).any(|condition| {
                let name = table.column(condition.column).map(|column| &column.name);
                indexes.iter().any(|(columns, _)| columns.first() == name)
            });
        let read = if bounded { all.min(rows * LOOKUP) } else { all };
        Some(JoinedTable { all, read, rows, distinct: distinct.collect(), indexes })
    }

    /// Distinct values of a column among all rows, if known. Otherwise the number of rows.
    fn of_all(&self, column: &str) -> f64 {
        self.distinct.get(column).copied().unwrap_or(self.all).max(1.0)
    }

    /// Distinct values of a column among the rows that its filters keep.
    fn distinct(&self, column: &str) -> f64 {
        let known = self.distinct.get(column).copied();
        known.unwrap_or(self.rows).min(self.rows).max(1.0)
    }
}

/// A table's position and one of its columns.
type Place = (usize, String);

/// Tables and the conditions between them.
#[derive(Debug)]
pub struct Joining {
    tables: Vec<JoinedTable>,
    equalities: Vec<(Place, Place)>,
    /// Other conditions, each as the bit set of its tables.
    conditions: Vec<u32>,
}

/// The state after joining some tables.
#[derive(Clone, Copy, Debug)]
struct Step {
    rows: f64,
    cost: f64,
}

impl Joining {
    /// Starts with at most 32 tables and no conditions.
    pub fn new(tables: Vec<JoinedTable>) -> Joining {
        Joining { tables, equalities: Vec::new(), conditions: Vec::new() }
    }

    /// Adds an equality between columns of two tables.
    pub fn equality(&mut self, one: Place, other: Place) {
        self.equalities.push((one, other));
    }

    /// Adds another condition on these tables, given as a bit set.
    pub fn condition(&mut self, tables: u32) {
        self.conditions.push(tables);
    }

    /// The cost of joining the tables in this order.
    pub fn cost_of(&self, order: &[usize]) -> f64 {
        let mut set = 0;
        let mut step: Option<Step> = None;
        for table in order {
            step = self.with(step, set, *table);
            set |= 1 << table;
        }
        step.map_or(0.0, |step| step.cost)
    }

    /// The cheapest order and its cost.
    pub fn best_order(&self) -> (Vec<usize>, f64) {
        let count = self.tables.len();
        let mut best: Vec<Option<(Step, Vec<usize>)>> = vec![None; 1 << count];
        for set in 0u32..1 << count {
            let Some((step, order)) = (match set {
                0 => Some((None, Vec::new())),
                set => best.get(set as usize).cloned().flatten().map(|(step, order)| (Some(step), order)),
            }) else {
                continue;
            };
            let left = (0..count).filter(|table| set & 1 << table == 0);
            // As in PostgreSQL, a table without a tying condition waits until no table has one.
            let tied: Vec<usize> = left.clone().filter(|table| self.is_tied(set, *table)).collect();
            for table in if tied.is_empty() { left.collect() } else { tied } {
                let Some(next) = self.with(step, set, table) else { continue };
                let Some(place) = best.get_mut((set | 1 << table) as usize) else { continue };
                if place.as_ref().is_none_or(|(known, _)| next.cost < known.cost) {
                    let order = order.iter().copied().chain([table]).collect();
                    *place = Some((next, order));
                }
            }
        }
        match best.pop().flatten() {
            Some((step, order)) => (order, step.cost),
            None => ((0..count).collect(), f64::INFINITY),
        }
    }

    /// Whether a condition ties a table to those of `set`.
    fn is_tied(&self, set: u32, table: usize) -> bool {
        let within = |(one, other): &(Place, Place)| {
            one.0 == table && set & 1 << other.0 != 0 || other.0 == table && set & 1 << one.0 != 0
        };
        self.equalities.iter().any(within)
            || self.conditions.iter().any(|tables| tables & 1 << table != 0 && tables & set != 0)
    }

    /// The state after joining one more table to those of `set`.
    fn with(&self, before: Option<Step>, set: u32, next: usize) -> Option<Step> {
        let table = self.tables.get(next)?;
        let Some(before) = before else { return Some(Step { rows: table.rows, cost: table.read }) };
        let inside = |place: &Place| set & 1 << place.0 != 0;
        // The equalities, as a joined column and the new table's column.
        let joined: Vec<(&Place, &str)> = self
            .equalities
            .iter()
            .filter_map(|(one, other)| match (one.0 == next, other.0 == next) {
                (true, false) if inside(other) => Some((other, one.1.as_str())),
                (false, true) if inside(one) => Some((one, other.1.as_str())),
                _ => None,
            })
            .collect();
        let fixes = |columns: &[String]| columns.iter().all(|column| joined.iter().any(|(_, name)| name == column));
        let unique = table.indexes.iter().any(|(columns, unique)| *unique && !columns.is_empty() && fixes(columns));
        let mut rows = if unique {
            // Each row has at most one partner, if the new table's filters keep it.
            before.rows * (table.rows / table.all)
        } else {
            let share = |((other, theirs), ours): &(&Place, &str)| {
                let theirs = self.tables.get(*other).map_or(1.0, |table| table.distinct(theirs));
                1.0 / theirs.max(table.distinct(ours))
            };
            before.rows * table.rows * joined.iter().map(share).product::<f64>()
        };
        let after = set | 1 << next;
        let ready = |tables: &&u32| **tables & !after == 0 && **tables & !set != 0;
        rows *= SOME.powi(i32::try_from(self.conditions.iter().filter(ready).count()).unwrap_or(i32::MAX));
        let rows = rows.max(1.0);
        let scanned = table.read + before.rows;
        // A lookup reads all rows with its key prefix, whatever other conditions reject.
        let named = |columns: &Vec<String>| {
            let known = columns.iter().take_while(|column| joined.iter().any(|(_, name)| name == *column));
            known.map(|column| table.of_all(column)).reduce(f64::max)
        };
        let looked_up = table.indexes.iter().filter_map(|(columns, _)| named(columns)).reduce(f64::max);
        let read = looked_up.map_or(scanned, |distinct| {
            let each = (table.all / distinct).max(1.0);
            scanned.min(before.rows * (LOOKUP + each - 1.0))
        });
        // Without any condition, all pairs are made.
        Some(Step { rows, cost: before.cost + read + rows })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn table(all: f64, rows: f64, key: &[&str]) -> JoinedTable {
        let distinct = key.iter().filter(|_| key.len() == 1).map(|column| (column.to_string(), all)).collect();
        let indexes = vec![(key.iter().map(|column| column.to_string()).collect(), true)];
        JoinedTable { all, read: rows, rows, distinct, indexes }
    }

    /// A million order lines of 100,000 orders by a thousand customers, of whom one is wanted.
    fn shop() -> Joining {
        let mut lines = table(1e6, 1e6, &["order", "line"]);
        lines.distinct.insert("order".into(), 1e5);
        let mut orders = table(1e5, 1e5, &["id"]);
        orders.distinct.insert("customer".into(), 1e3);
        orders.indexes.push((vec!["customer".into()], false));
        let mut joining = Joining::new(vec![lines, orders, table(1e3, 1.0, &["id"])]);
        joining.equality((0, "order".into()), (1, "id".into()));
        joining.equality((1, "customer".into()), (2, "id".into()));
        joining
    }

    #[test]
    fn the_one_customer_comes_first() {
        let shop = shop();
        let (order, cost) = shop.best_order();
        assert_eq!(order, [2, 1, 0]);
        assert!(cost < shop.cost_of(&[0, 1, 2]) / 100.0);
        assert!((cost - shop.cost_of(&[2, 1, 0])).abs() < 1e-6);
    }

    /// The newest of 300,000 trades of one of 5000 accounts, with five kinds and five states, and all trades in one.
    #[test]
    fn small_tables_are_not_crossed_and_a_look_up_reads_all_that_has_its_key() {
        let mut trades = table(3e5, 60.0, &["id"]);
        trades.read = 240.0;
        trades.distinct.extend([("kind".into(), 5.0), ("state".into(), 1.0)]);
        trades.indexes.push((vec!["state".into()], false));
        let mut joining = Joining::new(vec![trades, table(5.0, 5.0, &["kind"]), table(5.0, 5.0, &["state"])]);
        joining.equality((0, "kind".into()), (1, "kind".into()));
        joining.equality((0, "state".into()), (2, "state".into()));
        let (order, _) = joining.best_order();
        assert!(order.iter().position(|table| *table == 0).unwrap() < 2, "{order:?}");
        assert!(joining.cost_of(&[2, 0, 1]) < 1000.0, "the trades are scanned by their account");
    }

    #[test]
    fn what_has_no_condition_between_it_is_not_joined_first() {
        let (order, _) = shop().best_order();
        let between = order.iter().position(|table| *table == 1).unwrap();
        assert!(between < 2, "{order:?}");
    }
}
