//! [`Runner`]: runs further statements in the transaction of the statement that ended.

use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::session::database::Database;
use crate::session::query::{PlannedQuery, Surroundings};
use crate::session::statement::Statement;
use crate::types::{Datum, SqlType};
use datafusion::arrow::record_batch::RecordBatch;
use std::collections::HashMap;
use std::sync::Arc;
use txn::Transaction;

/// Runs the statements of FOREIGN KEY checks.
pub struct Runner<'a> {
    database: &'a Arc<Database>,
    /// The context of the statement that ended.
    pub context: &'a Arc<StatementContext>,
    parsed: HashMap<String, Arc<Statement>>,
}

impl<'a> Runner<'a> {
    /// A runner for the checks after one statement.
    pub fn new(database: &'a Arc<Database>, context: &'a Arc<StatementContext>) -> Self {
        Runner { database, context, parsed: HashMap::new() }
    }

    /// Runs a statement as a command of its own. It sees all earlier writes, and at READ COMMITTED the
    /// newest commits of others.
    pub async fn run(
        &mut self,
        text: String,
        types: Vec<Option<SqlType>>,
        values: Vec<Datum>,
    ) -> Result<Vec<RecordBatch>> {
        let transaction = self.context.transaction.for_statement(self.context.transaction.is_quiet());
        self.run_as(transaction, text, types, values).await
    }

    async fn run_as(
        &mut self,
        transaction: Arc<Transaction>,
        text: String,
        types: Vec<Option<SqlType>>,
        values: Vec<Datum>,
    ) -> Result<Vec<RecordBatch>> {
        self.context.session.check_interrupt()?;
        let statement = match self.parsed.get(&text) {
            Some(statement) => statement.clone(),
            None => {
                let parsed = self.parse(&text)?;
                self.parsed.insert(text, parsed.clone());
                parsed
            }
        };
        // FOREIGN KEY checks need no privileges.
        let (catalog, settings) = (&self.context.catalog, &Arc::new(self.context.settings.unchecked()));
        let surroundings = Surroundings::new(catalog, settings);
        let now = self.context.transaction_time;
        let planned = self.database.plans().get_or_plan((&statement, false), &types, surroundings, catalog, || {
            PlannedQuery::new(self.database.engine(), &statement, catalog, settings, &types, now)
        })?;
        let context = Arc::new(StatementContext {
            parameters: values,
            transaction,
            command: self.context.transaction.advance_command(),
            catalog: catalog.clone(),
            settings: settings.clone(),
            session: self.context.session.clone(),
            transaction_time: now,
            statement_time: self.context.statement_time,
            held: Default::default(),
            for_reference: true,
            view_rows: Default::default(),
        });
        planned.plan.run(context).await?.collect().await
    }

    /// Parses a text through the cache: a FOREIGN KEY repeats its queries.
    fn parse(&self, text: &str) -> Result<Arc<Statement>> {
        if let Some(known) = self.database.parsed().find(text) {
            return Ok(known);
        }
        let parsed: Vec<_> = crate::parse::parse(text)?.into_iter().map(Arc::new).collect();
        self.database.parsed().keep(text, &parsed);
        parsed.into_iter().next().ok_or_else(|| SqlError::internal("an empty statement"))
    }

    /// Whether a query returns a row.
    pub async fn finds(&mut self, text: String, types: Vec<Option<SqlType>>, values: Vec<Datum>) -> Result<bool> {
        let found = self.run(text, types, values).await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }
    /// The same over the newest commits, at every isolation level.
    pub async fn finds_newest(
        &mut self,
        text: String,
        types: Vec<Option<SqlType>>,
        values: Vec<Datum>,
    ) -> Result<bool> {
        let newest = self.context.transaction.for_newest().await?;
        let found = self.run_as(newest, text, types, values).await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }
}
