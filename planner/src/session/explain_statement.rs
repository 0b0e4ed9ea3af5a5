//! EXPLAIN of statements.

use super::dispatch::{is_planned, refused_in_read_only};
use super::outcome::{Outcome, OutputColumn};
use super::prepared::Prepared;
use super::query::QueryKind;
use super::set::text_rows;
use super::{Session, run};
use crate::error::{Result, SqlError};
use crate::explain::ExplainOptions;
use crate::parse::{ExplainFormat, StatementKind};
use crate::types::{Datum, SqlType};
use std::sync::Arc;

impl Session {
    /// Runs EXPLAIN. With ANALYZE it executes the statement.
    pub(super) async fn run_explain(
        &mut self,
        explain: &crate::parse::Explain,
        prepared: &Prepared,
        parameters: Vec<Datum>,
    ) -> Result<Outcome> {
        let (statement, given, parameters) = match &explain.statement.kind {
            StatementKind::Execute { name, parameters } => {
                let (target, values) = self.execute_arguments(&explain.statement, name, parameters).await?;
                (target.statement.clone(), target.given.clone(), values)
            }
            StatementKind::CreateTableAs(create) if !explain.analyze && is_planned(&create.query.kind) => {
                (Arc::new(create.query.clone()), prepared.given.clone(), parameters)
            }
            StatementKind::DeclareCursor(declare) if !explain.analyze => {
                (Arc::new(declare.query.clone()), prepared.given.clone(), parameters)
            }
            _ => (Arc::new(explain.statement.clone()), prepared.given.clone(), parameters),
        };
        if !is_planned(&statement.kind) {
            return Err(SqlError::unsupported("EXPLAIN of this statement"));
        }
        let context = self.begin_statement(parameters).await?;
        let planned = self.planned(&statement, &given).await?;
        if let (true, true, QueryKind::Write { verb, .. }) = (explain.analyze, self.block.read_only(), &planned.kind) {
            return Err(refused_in_read_only(verb.name()));
        }
        let options = ExplainOptions {
            analyze: explain.analyze,
            verbose: explain.verbose,
            costs: explain.costs,
            timing: explain.timing.unwrap_or(explain.analyze),
            summary: explain.summary.unwrap_or(explain.analyze),
        };
        crate::session::referential::references_of(&self.shared).lock().begin();
        if explain.analyze {
            if planned.overlapping {
                context.held.remember_written();
            }
            run::run_parts(&planned, &context, false).await?;
        }
        let explained = crate::explain::explain(&planned.plan, context.clone(), options).await?;
        if explain.analyze {
            run::run_parts(&planned, &context, true).await?;
        }
        let plain = ExplainOptions { analyze: false, summary: false, ..options };
        let mut parts = Vec::new();
        for part in &planned.parts {
            parts.push(crate::explain::explain(&part.plan, context.clone(), plain).await?);
        }
        super::referential::enforce(&self.database, &context).await?;
        let lines = match explain.format {
            ExplainFormat::Text => explained.lines(&parts),
            format => vec![explained.structured(&parts, format)],
        };
        let rows: Vec<Vec<String>> = lines.into_iter().map(|line| vec![line]).collect();
        let mut outcome = text_rows(&[COLUMN], &rows, "EXPLAIN")?;
        if let Outcome::Rows { columns, .. } = &mut outcome {
            *columns = columns_of(explain);
        }
        Ok(outcome)
    }
}

const COLUMN: &str = "QUERY PLAN";

/// The column of an EXPLAIN: json for FORMAT JSON, else text.
pub(super) fn columns_of(explain: &crate::parse::Explain) -> Arc<[OutputColumn]> {
    let ty = if explain.format == ExplainFormat::Json { SqlType::JSON } else { SqlType::TEXT };
    Arc::from([OutputColumn::computed(COLUMN, ty)])
}
