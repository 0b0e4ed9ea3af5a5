//! UPDATE.

use super::assignment::extension;
use super::binder::Binder;
use super::clauses::{check_update, target_table};
use super::expression::{Clause, Env};
use super::scope::Scope;
use super::{BoundKind, KEY_COLUMN, Verb};
use crate::catalog::acl::UPDATE;
use crate::error::{Result, SqlError};
use crate::execution::dml::UpdateNode;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use sqlparser::ast::{self, UpdateTableFromKind};

impl Binder<'_> {
    /// UPDATE.
    pub fn update(&self, update: &ast::Update) -> Result<BoundKind> {
        check_update(update)?;
        let (name, alias) = target_table(&update.table.relation, "UPDATE of")?;
        if !update.table.joins.is_empty() {
            return Err(SqlError::syntax("syntax error at or near \"JOIN\""));
        }
        let table = self.writable(name, "UPDATE")?;
        self.writing.set(true);
        let scanned = self.scan(&table, alias, None);
        self.writing.set(false);
        let mut source = scanned?;
        let from: &[ast::TableWithJoins] = match &update.from {
            None => &[],
            Some(UpdateTableFromKind::AfterSet(from)) => from,
            Some(UpdateTableFromKind::BeforeSet(_)) => {
                return Err(SqlError::syntax("syntax error at or near \"FROM\""));
            }
        };
        let Some(target) = source.scope.relations.first().cloned() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        if !from.is_empty() {
            let others = self.from(from, None)?;
            source = self.cross(source, others)?;
        }
        let mut plan = source.plan;
        let scope = source.scope;
        if let Some(selection) = &update.selection {
            let filter = self.predicate(selection, Env::new(&scope, Clause::Where))?;
            self.check_read(&filter)?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        let set = self.assignments(&table, &update.assignments, Env::new(&scope, Clause::Update))?;
        let names = set.iter().filter_map(|(id, _)| table.column(*id)).map(|column| column.name.as_str());
        self.require_columns(&table, UPDATE, names)?;
        set.iter().try_for_each(|(_, value)| self.check_read(value))?;
        let Some(key) = target.key.clone() else {
            return Err(SqlError::internal(format!("table \"{}\" has no row key", table.name)));
        };
        let mut exprs = vec![Expr::Column(key).alias(format!("{KEY_COLUMN}{}", self.unique("")))];
        exprs.extend(target.columns.iter().map(|column| column.expr.clone()));
        let mut assigned = Vec::new();
        for (column, value) in set {
            assigned.push(column);
            exprs.push(value.alias(self.unique("n")));
        }
        if update.returning.is_some() {
            exprs.extend(others(&scope));
        }
        let input = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let rules = self.rules(&table)?;
        let node = UpdateNode::new(table.clone(), input, assigned, rules, update.returning.is_some())?;
        let (plan, columns) = self.returning(extension(node), update.returning.as_deref(), &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Update, table: Some(table) })
    }
}

/// The columns of all relations but the first: what RETURNING may ask for beside the written row.
pub fn others(scope: &Scope<'_>) -> Vec<Expr> {
    let mut exprs: Vec<Expr> = Vec::new();
    for column in scope.relations.iter().skip(1).flat_map(|relation| &relation.columns) {
        if matches!(column.expr, Expr::Column(_)) && !exprs.contains(&column.expr) {
            exprs.push(column.expr.clone());
        }
    }
    exprs
}
