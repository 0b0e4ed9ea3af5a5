//! [`ComputedIndexes`]: presents expression and partial indexes as plain ones to the choice of an access path. An
//! expression of a key becomes a column of its own, also in the filters. A partial index is visible only if the filters
//! imply its condition.

use super::dml::Computed;
use super::implication::implied;
use catalog::{ColumnDescriptor, ColumnId, IndexState, TableDescriptor};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::split_conjunction_owned;
use sql_error::Result;

/// The bound expressions of a table's indexes, over unqualified columns.
#[derive(Debug)]
pub struct ComputedIndexes {
    /// The table, with additional columns for the expressions.
    table: TableDescriptor,
    /// The expressions and the columns that replace them.
    expressions: Vec<(Expr, Expr)>,
    /// Positions of partial indexes, and the conditions that the filters must imply.
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
    /// Prepares the expression and partial indexes of a table.
    pub fn new(table: &TableDescriptor, computed: &Computed) -> Self {
        let mut seen = Self { table: table.clone(), expressions: Vec::new(), predicates: Vec::new() };
        for (position, index) in seen.table.indexes.iter_mut().enumerate().filter(|(_, index)| index.is_computed()) {
            let bound = computed.index(index.oid).and_then(|bound| {
                let expressions = bound.expressions.iter().map(unqualified).collect::<Result<Vec<_>>>().ok()?;
                let predicate = bound.predicate.as_ref().map(unqualified).transpose().ok()?;
                (expressions.len() == index.expressions.len()).then_some((expressions, predicate))
            });
            let Some((expressions, predicate)) = bound else {
                // The bound expressions are missing, so the index must not be used.
                index.state = IndexState::WriteOnly;
                continue;
            };
            let descriptions = std::mem::take(&mut index.expressions);
            let keys = index.columns.iter_mut().filter(|key| key.column == 0);
            for ((key, expr), description) in keys.zip(expressions).zip(descriptions) {
                // Ids of real columns start at one.
                let id = -1 - ColumnId::try_from(seen.expressions.len()).unwrap_or(ColumnId::MAX - 1);
                let name = format!("\0{}", description.text);
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
    /// The table and the filters (a conjunction) for the choice. Positions of filters and indexes stay the same.
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
