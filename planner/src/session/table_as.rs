//! CREATE TABLE AS and SELECT INTO: creates a table with a query's columns and inserts its rows, in one transaction.

use super::Session;
use super::dispatch::{Definition, refused_in_read_only};
use super::outcome::Outcome;
use super::query::{bind_to, logical_plan};
use super::run::count;
use crate::bind::BoundKind;
use crate::catalog::TableDescriptor;
use crate::error::{Result, SqlError, state};
use crate::execution::Slots;
use crate::execution::dml::{InsertNode, Rules};
use crate::parse::{CreateTableAs, StatementKind, ast};
use crate::plan::PlanInstance;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::TableReference;
use datafusion::logical_expr::{Extension, LogicalPlan};
use futures::TryStreamExt;
use std::sync::Arc;

impl Session {
    /// Runs CREATE TABLE AS or SELECT INTO.
    pub(super) async fn create_table_as(&mut self, create: &CreateTableAs) -> Result<Outcome> {
        if self.block.read_only() {
            return Err(refused_in_read_only(if create.into { "SELECT INTO" } else { "CREATE TABLE AS" }));
        }
        let done = |tag: String| Ok(Outcome::Command { tag });
        let settings = self.shared.settings();
        let (query, given, values) = match &create.query.kind {
            StatementKind::Execute { name, parameters } => {
                let (target, values) = self.execute_arguments(&create.query, name, parameters).await?;
                let given: Vec<_> = target.parameters.iter().copied().map(Some).collect();
                (target.statement.clone(), given, values)
            }
            _ => (Arc::new(create.query.clone()), Vec::new(), Vec::new()),
        };
        // The query is bound before the table exists, so it may read a table of the same name elsewhere.
        let before = self.block.statement(false).await?;
        let slots = Slots::new();
        let bound = bind_to(&query, &before.catalog, &settings, &given, before.started, &slots)?;
        if bound.parameters.len() > values.len() {
            return Err(SqlError::new(state::UNDEFINED_PARAMETER, "there is no parameter $1").about("$1"));
        }
        let BoundKind::Query { columns, .. } = &bound.kind else {
            if matches!(&query.kind, StatementKind::Sql(tree) if !matches!(tree.as_ref(), ast::Statement::Query(_))) {
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "prepared statement is not a SELECT"));
            }
            return Err(SqlError::unsupported("CREATE TABLE AS of a query with data-modifying WITH"));
        };
        let columns = columns.clone();
        let Some(table) = self.define_table_as(create, &columns).await? else {
            return done("CREATE TABLE AS".into());
        };
        if !create.with_data {
            return done("CREATE TABLE AS".into());
        }
        let context = self.begin_statement(values).await?;
        let plan = insert(Arc::new(table), logical_plan(bound))?;
        slots.fill(context.clone());
        let mut instance = PlanInstance::build(self.database.engine(), &plan, slots).await?;
        let batches: Vec<RecordBatch> = instance.start(context)?.try_collect().await?;
        instance.finish()?;
        done(format!("SELECT {}", count(&batches)?))
    }

    async fn define_table_as(
        &mut self,
        create: &CreateTableAs,
        columns: &[super::OutputColumn],
    ) -> Result<Option<TableDescriptor>> {
        let made = parking_lot::Mutex::new(None);
        self.define(Definition::TableAs(create, columns, &made)).await?;
        Ok(made.into_inner())
    }
}

/// A plan that inserts all rows of a query into a table with its columns.
fn insert(table: Arc<TableDescriptor>, rows: LogicalPlan) -> Result<LogicalPlan> {
    let qualifier = TableReference::bare(table.name.as_str());
    let node = InsertNode::new(table, qualifier, rows, None, Rules::default(), false)?;
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
}
