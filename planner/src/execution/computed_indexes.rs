//! [`ComputedIndexes`]: lets the choice of an access path see indexes over expressions and partial ones as plain ones:
//! an expression of a key becomes a column of its own, in the filters too; a partial index is seen when the filters
//! imply its condition. Must not read anything.

use super::dml::Computed;
use super::implication::implied;
use crate::catalog::{ColumnDescriptor, ColumnId, IndexState, TableDescriptor};
use crate::error::Result;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::split_conjunction_owned;

/// The bound expressions of a table's indexes, over unqualified columns.
#[derive(Debug)]
pub struct ComputedIndexes {
    /// The table, with a column for each expression behind its own.
    table: TableDescriptor,
    /// The expressions, and the columns that stand for them.
    expressions: Vec<(Expr, Expr)>,
    /// Positions of partial indexes, and what must be among the filters.
    predicates: Vec<(usize, Vec<Expr>)>,
}

fn unqualified(expr: &Expr) -> Result<Expr> {
    let plain = expr.clone().transform(|inner| {
        Ok(match inner {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    })?;
    Ok(plain.data)
}

impl ComputedIndexes {
    /// For a table.
    pub fn new(table: &TableDescriptor, computed: &Computed) -> Self {
        let mut seen = Self { table: table.clone(), expressions: Vec::new(), predicates: Vec::new() };
        for (position, index) in seen.table.indexes.iter_mut().enumerate().filter(|(_, index)| index.is_computed()) {
            let bound = computed.index(index.oid).and_then(|bound| {
                let expressions = bound.expressions.iter().map(unqualified).collect::<Result<Vec<_>>>().ok()?;
                let predicate = bound.predicate.as_ref().map(unqualified).transpose().ok()?;
                (expressions.len() == index.expressions.len()).then_some((expressions, predicate))
            });
            let Some((expressions, predicate)) = bound else {
                // Nobody knows what is in it.
                index.state = IndexState::WriteOnly;
                continue;
            };
            let descriptions = std::mem::take(&mut index.expressions);
            let keys = index.columns.iter_mut().filter(|key| key.column == 0);
            for ((key, expr), description) in keys.zip(expressions).zip(descriptions) {
                // No column of a table has an id below one.
                let id = -1 - ColumnId::try_from(seen.expressions.len()).unwrap_or(ColumnId::MAX - 1);
                let name = format!("\u{1}{}", description.text);
                key.column = id;
                seen.expressions.push((expr, Expr::Column(Column::new_unqualified(name.clone()))));
                seen.table.columns.push(ColumnDescriptor { id, name, ty: description.ty, ..Default::default() });
            }
            if let Some(predicate) = predicate {
                seen.predicates.push((position, split_conjunction_owned(predicate)));
            }
        }
        seen
    }
    /// The table and the filters (a conjunction) as the choice is to see them. Positions of filters and indexes stay.
    pub fn seen_by(&self, filters: &[Expr]) -> Result<(TableDescriptor, Vec<Expr>)> {
        let mut table = self.table.clone();
        let conjuncts: Vec<Expr> = filters.iter().cloned().flat_map(split_conjunction_owned).collect();
        for (position, needed) in &self.predicates {
            if let Some(index) = table.indexes.get_mut(*position)
                && !needed.iter().all(|needed| implied(&conjuncts, needed))
            {
                index.state = IndexState::WriteOnly;
            }
        }
        let replace = |filter: &Expr| -> Result<Expr> {
            let replaced = filter.clone().transform_down(|inner| {
                Ok(match self.expressions.iter().find(|(expression, _)| *expression == inner) {
                    Some((_, column)) => Transformed::yes(column.clone()),
                    None => Transformed::no(inner),
                })
            })?;
            Ok(replaced.data)
        };
        Ok((table, filters.iter().map(replace).collect::<Result<_>>()?))
    }
}
