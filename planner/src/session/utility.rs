//! Statements without a plan that are not data definition: settings, PREPARE, DISCARD, VACUUM and others.

use super::dispatch::text_columns;
use super::outcome::{Deallocated, Notice, Outcome, OutputColumn};
use super::prepared::{Prepared, Shown};
use super::set::text_rows;
use super::statement::Statement;
use super::table_locks::{self, TableLockMode, locked_with, may_lock};
use super::{Session, query};
use crate::bind::bind_parameter_values;
use crate::bind::with_binding;
use crate::catalog::{RelationKind, predefined};
use crate::error::{Result, SqlError, state};
use crate::execution::Slots;
use crate::parse::{AnalyzedTable, Discard, StatementKind, VacuumOptions, ast, fold_name};
use crate::settings::registry;
use crate::types::{Datum, SqlType};
use futures::TryStreamExt;
use std::sync::Arc;
use txn::locks::LockWait;

/// The greatest number of statements that a session may PREPARE.
const MOST_PREPARED: usize = 10_000;

fn done(tag: impl Into<String>) -> Outcome {
    Outcome::Command { tag: tag.into() }
}

impl Session {
    /// The columns of a statement without a plan.
    pub(super) async fn utility_columns(&mut self, statement: &Statement) -> Result<Option<Arc<[OutputColumn]>>> {
        Ok(match &statement.kind {
            StatementKind::Show(name) => {
                let title = registry::find(name).map_or(name.as_str(), |definition| definition.name);
                Some(text_columns(&[title]))
            }
            StatementKind::ShowAll => Some(text_columns(&["name", "setting", "description"])),
            StatementKind::Explain(explain) => Some(super::explain_statement::columns_of(explain)),
            StatementKind::CheckIndex(_) | StatementKind::CheckTable(_) => Some(text_columns(&PROBLEM)),
            kind => self.columns_of_others(kind),
        })
    }

    /// The columns of a statement that runs now. The object that it names may have other columns than at preparation.
    pub fn portal_columns(&self, prepared: &Prepared) -> Option<Arc<[OutputColumn]>> {
        match &prepared.statement.kind {
            kind @ (StatementKind::Fetch { .. } | StatementKind::Execute { .. }) => self.columns_of_others(kind),
            _ => prepared.columns.clone(),
        }
    }

    /// The columns of the cursor or prepared statement that a statement names. `None` if it does not exist, which is an
    /// error only at run time.
    fn columns_of_others(&self, kind: &StatementKind) -> Option<Arc<[OutputColumn]>> {
        match kind {
            StatementKind::Fetch { cursor, only_move: false, .. } => {
                crate::session::cursors::cursors_of(&self.shared).lock().columns(cursor)
            }
            StatementKind::Execute { name, .. } => self.named(name).ok()?.columns.clone(),
            _ => None,
        }
    }

    /// Runs a utility statement.
    pub(super) async fn run_utility(&mut self, statement: &Statement) -> Result<Outcome> {
        let text = statement.source.shared_text();
        Ok(match &statement.kind {
            StatementKind::Set { local, name, value } if name == "role" || name == "session_authorization" => {
                self.set_role((*local, statement.alone), name, value.as_deref()).await?;
                done("SET")
            }
            StatementKind::Reset(name) if name == "role" || name == "session_authorization" => {
                self.set_role((false, true), name, None).await?;
                done("RESET")
            }
            StatementKind::Set { local, name, value } => {
                self.run_set((*local, statement.alone), name, value.as_deref()).await?;
                done("SET")
            }
            StatementKind::SetTransaction { modes, session: true } => {
                self.set_characteristics(*modes)?;
                done("SET")
            }
            StatementKind::SetTransaction { modes, session: false } => {
                if statement.alone && self.block.status() == super::TransactionStatus::Idle {
                    self.shared.notify(Notice::warning(
                        state::NO_ACTIVE_SQL_TRANSACTION,
                        "SET TRANSACTION can only be used in transaction blocks",
                    ));
                } else {
                    self.block.ensure()?;
                    self.block.set_modes(*modes).await?;
                }
                done("SET")
            }
            StatementKind::SetSnapshot(name) => {
                self.block.import_snapshot(name).await?;
                done("SET")
            }
            StatementKind::Reset(name) => {
                self.run_reset(name)?;
                done("RESET")
            }
            StatementKind::ResetAll => {
                self.block.ensure()?;
                self.shared.with_settings(|stack| stack.reset_all());
                done("RESET")
            }
            StatementKind::Show(name) => self.run_show(name).await?,
            StatementKind::ShowAll => self.run_show_all().await?,
            StatementKind::Prepare { name, types, statement } => {
                self.run_prepare(name, types, statement, text).await?;
                done("PREPARE")
            }
            StatementKind::Deallocate(name) => {
                let tag = if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" };
                match name {
                    Some(name) => drop(self.shared.prepared.lock().remove(name)),
                    None => self.shared.prepared.lock().clear(),
                }
                self.deallocated.push(match name {
                    Some(name) if self.statements.remove(name).is_some() => Deallocated::Named(name.clone()),
                    Some(name) => Deallocated::Foreign(name.clone()),
                    None => {
                        self.statements.clear();
                        Deallocated::All
                    }
                });
                done(tag)
            }
            StatementKind::Discard(what) => {
                if matches!(what, Discard::All | Discard::Temporary) {
                    if *what == Discard::All {
                        self.refuse_in_block("DISCARD ALL")?;
                        self.set_role((false, true), "session_authorization", None).await?;
                    }
                    self.discard_temporary().await?;
                }
                self.run_discard(*what)?
            }
            StatementKind::Vacuum { options, tables } => self.run_vacuum(*options, tables).await?,
            StatementKind::Analyze { options, tables } => {
                self.analyze(tables, options.verbose).await?;
                done("ANALYZE")
            }
            StatementKind::CheckIndex(name) => {
                let context = self.begin_statement(Vec::new()).await?;
                problem_rows(crate::ddl::check::check_index(&context, name).await?, "CHECK INDEX")?
            }
            StatementKind::CheckTable(name) => {
                let context = self.begin_statement(Vec::new()).await?;
                problem_rows(crate::ddl::check::check_table(&context, name).await?, "CHECK TABLE")?
            }
            StatementKind::Fetch { cursor, direction, only_move } => self.fetch(cursor, *direction, *only_move).await?,
            StatementKind::CloseCursor(name) => self.close_cursor(name.as_deref())?,
            StatementKind::Listen(channel) => {
                self.block.ensure()?;
                self.shared.said.lock().listen(channel);
                done("LISTEN")
            }
            StatementKind::Unlisten(channel) => {
                self.block.ensure()?;
                self.shared.said.lock().unlisten(channel.as_deref());
                done("UNLISTEN")
            }
            StatementKind::Notify { channel, payload } => {
                self.block.ensure()?;
                self.shared.said.lock().notify(channel, payload)?;
                done("NOTIFY")
            }
            StatementKind::Checkpoint => {
                let context = self.begin_statement(Vec::new()).await?;
                let role = context.role();
                if !context.catalog.owns(role, predefined::CHECKPOINT) {
                    let message = "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT";
                    return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
                }
                done("CHECKPOINT")
            }
            StatementKind::LockTable { tables, mode, nowait } => {
                self.lock_tables(statement.alone, tables, *mode, *nowait).await?
            }
            _ => return Err(SqlError::internal("a statement that went the wrong way")),
        })
    }

    async fn run_prepare(
        &mut self,
        name: &str,
        types: &[ast::TypeName],
        statement: &Statement,
        text: &Arc<str>,
    ) -> Result<()> {
        if self.statements.contains_key(name) {
            return Err(SqlError::new(
                state::DUPLICATE_PREPARED_STATEMENT,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        if self.statements.len() >= MOST_PREPARED {
            return Err(SqlError::new("53400", "too many prepared statements")
                .detail(format!("A connection may PREPARE {MOST_PREPARED}."))
                .hint("DEALLOCATE what is not needed any more."));
        }
        let mut given = Vec::with_capacity(types.len());
        for ty in types {
            given.push(Some(match crate::bind::sql_type(ty) {
                Err(error) if error.state() == state::UNDEFINED_OBJECT => {
                    let catalog = self.block.statement(false).await?.catalog;
                    crate::bind::catalog_type(ty, &catalog, self.shared.settings().search_path(), false)?
                }
                known => known?,
            }));
        }
        // An omitted type is inferred, as for protocol parameters. Lengths and scales have no meaning here.
        let given = given.into_iter().map(|ty| ty.filter(|ty| *ty != SqlType::UNKNOWN).map(SqlType::plain)).collect();
        let prepared = self.prepare_statement(Arc::new(statement.clone()), given).await?;
        self.keep(&prepared)?;
        self.show_prepared(name, text, &prepared, true);
        self.statements.insert(name.to_string(), prepared);
        Ok(())
    }

    fn show_prepared(&self, name: &str, text: &Arc<str>, prepared: &Prepared, by_statement: bool) {
        let shown = Shown {
            text: Arc::clone(text),
            created: self.now(),
            parameters: prepared.parameters.clone(),
            by_statement,
        };
        self.shared.prepared.lock().insert(name.to_string(), shown);
    }

    /// Records in `pg_prepared_statements` that the server keeps a statement under a name, or with `None`
    /// that it dropped it.
    pub fn note_prepared(&self, name: &str, prepared: Option<&Prepared>) {
        match prepared {
            Some(prepared) => self.show_prepared(name, prepared.statement.source.shared_text(), prepared, false),
            None => {
                self.shared.prepared.lock().remove(name);
            }
        }
    }

    fn named(&self, name: &str) -> Result<&Arc<Prepared>> {
        self.statements.get(name).ok_or_else(|| {
            SqlError::new(state::INVALID_SQL_STATEMENT_NAME, format!("prepared statement \"{name}\" does not exist"))
        })
    }

    /// The statement that EXECUTE names, and the values of its parameters.
    pub(super) async fn execute_arguments(
        &mut self,
        statement: &Statement,
        name: &str,
        values: &[ast::Expr],
    ) -> Result<(Arc<Prepared>, Vec<Datum>)> {
        let target = self.named(name)?.clone();
        let types: Vec<SqlType> = target.parameters.clone();
        if types.is_empty() {
            // As in PostgreSQL, arguments for a statement without parameters are ignored.
            return Ok((target, Vec::new()));
        }
        if values.len() != types.len() {
            let message = format!("wrong number of parameters for prepared statement \"{name}\"");
            let detail = format!("Expected {} parameters but got {}.", types.len(), values.len());
            return Err(SqlError::syntax(message).detail(detail));
        }
        let context = self.begin_statement(Vec::new()).await?;
        let types: Vec<SqlType> = types.into_iter().map(|ty| context.catalog.current_type(ty)).collect();
        let slots = Slots::new();
        let (catalog, settings, now) = (&context.catalog, &context.settings, context.transaction_time);
        let bound = with_binding(catalog, settings, &slots, now, |binding| {
            bind_parameter_values(statement, values, &types, binding)
        })?;
        let plan = query::logical_plan(bound);
        let mut instance = crate::plan::PlanInstance::build(self.database.engine(), &plan, slots.clone()).await?;
        let batches: Vec<_> = instance.start(context)?.try_collect().await?;
        instance.finish()?;
        let row = batches.iter().find(|batch| batch.num_rows() == 1);
        let row = row.ok_or_else(|| SqlError::internal("EXECUTE's parameters gave no row"))?;
        let datums =
            row.columns().iter().map(|column| Ok(Datum::try_from_array(column, 0)?)).collect::<Result<Vec<_>>>()?;
        Ok((target, datums))
    }

    fn run_discard(&mut self, what: Discard) -> Result<Outcome> {
        match what {
            Discard::All => {
                self.refuse_in_block("DISCARD ALL")?;
                if let Some(advisory) = self.shared.advisory() {
                    advisory.unlock_all();
                }
                self.block.ensure()?;
                self.shared.with_settings(|stack| stack.reset_all());
                self.statements.clear();
                self.shared.prepared.lock().clear();
                crate::session::cursors::cursors_of(&self.shared).lock().clear();
                self.deallocated.push(Deallocated::All);
                self.shared.sequences.clear();
                self.shared.said.lock().unlisten(None);
                Ok(done("DISCARD ALL"))
            }
            Discard::Plans => {
                self.database.plans().clear();
                for prepared in self.statements.values() {
                    *prepared.planned.lock() = None;
                }
                Ok(done("DISCARD PLANS"))
            }
            Discard::Sequences => {
                self.shared.sequences.clear();
                Ok(done("DISCARD SEQUENCES"))
            }
            Discard::Temporary => Ok(done("DISCARD TEMP")),
        }
    }

    async fn run_vacuum(&mut self, options: VacuumOptions, tables: &[AnalyzedTable]) -> Result<Outcome> {
        self.refuse_in_block("VACUUM")?;
        if !options.analyze && tables.iter().any(|table| !table.columns.is_empty()) {
            let message = "ANALYZE option must be specified when a column list is provided";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        self.tables_named(tables).await?;
        // The background collects versions of single tables. VACUUM of everything runs a pass now.
        if tables.is_empty() && self.may_vacuum_all().await? {
            let report = self.database.transactions().collect_garbage().await?;
            tracing::info!(?report, "VACUUM");
        }
        if options.analyze {
            self.analyze(tables, options.verbose).await?;
        }
        Ok(done("VACUUM"))
    }

    /// Whether the role may collect old versions of every table. Otherwise the background collects them.
    async fn may_vacuum_all(&mut self) -> Result<bool> {
        let catalog = self.block.statement(false).await?.catalog;
        let user = catalog.role(self.shared.settings().user()).map_or(self.shared.user_oid, |role| role.oid);
        Ok(catalog.owns(user, catalog.database().owner))
    }

    /// Locks the definitions of tables until the transaction ends. Errors: 25P01, 42P01, 42809, 55P03.
    async fn lock_tables(
        &mut self,
        alone: bool,
        names: &[ast::Name],
        mode: TableLockMode,
        nowait: bool,
    ) -> Result<Outcome> {
        if alone && self.status() != super::TransactionStatus::InBlock {
            let message = "LOCK TABLE can only be used in transaction blocks";
            return Err(SqlError::new(state::NO_ACTIVE_SQL_TRANSACTION, message));
        }
        let part = self.block.statement(true).await?;
        let settings = self.shared.settings();
        if mode > TableLockMode::RowExclusive && !part.transaction.can_lock_rows() {
            return Err(SqlError::unsupported(format!("LOCK TABLE in {} MODE on this store", mode.words())));
        }
        let locks = self.block.locks().ok_or_else(|| SqlError::internal("a transaction without locks"))?;
        let timeout = if nowait { Some(std::time::Duration::ZERO) } else { settings.lock_timeout() };
        for name in names {
            let (schema, name) = fold_name(name)?;
            let found = part.catalog.relation(schema.as_deref(), &name, settings.search_path());
            let table =
                found.ok_or_else(|| part.catalog.no_relation(schema.as_deref(), &name, settings.search_path()))?;
            if table.kind == RelationKind::Sequence {
                let message = format!("cannot lock relation \"{name}\"");
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for sequences."));
            }
            for (table, role) in locked_with(&part.catalog, &settings, table) {
                may_lock(&part.catalog, role, &table, mode)?;
                let named = |error: SqlError| match error.state() {
                    state::LOCK_NOT_AVAILABLE if nowait => {
                        let message = format!("could not obtain lock on relation \"{}\"", table.name);
                        SqlError::new(state::LOCK_NOT_AVAILABLE, message)
                    }
                    _ => error,
                };
                let wait = if nowait { LockWait::No } else { LockWait::For(timeout) };
                let database = self.shared.database_oid;
                table_locks::acquire(&part.transaction, database, table.oid, mode, wait).await.map_err(named)?;
                locks.shared(table.oid, table.version, timeout).await.map_err(named)?;
            }
        }
        Ok(done("LOCK TABLE"))
    }

    /// Checks that the named tables exist. Errors: 42P01.
    async fn tables_named(&mut self, names: &[AnalyzedTable]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let catalog = self.block.statement(false).await?.catalog;
        let settings = self.shared.settings();
        for named in names {
            let (schema, table) = fold_name(&named.name)?;
            let skip = |why: &str| {
                self.shared.notify(Notice::warning(state::WARNING, format!("skipping \"{table}\" --- {why}")));
            };
            if let Some(found) = catalog.relation(schema.as_deref(), &table, settings.search_path()) {
                let user = catalog.role(settings.user()).map_or(self.shared.user_oid, |role| role.oid);
                match found.kind {
                    RelationKind::View | RelationKind::Sequence => {
                        skip("cannot vacuum non-tables or special system tables");
                    }
                    RelationKind::Table if !super::analyze::may_analyze(&catalog, user, &found) => {
                        skip("only table or database owner can vacuum it");
                    }
                    RelationKind::Table | RelationKind::SystemView => {}
                }
            } else {
                let error = catalog.no_relation(schema.as_deref(), &table, settings.search_path());
                if error.state() == state::WRONG_OBJECT_TYPE {
                    skip("cannot vacuum non-tables or special system tables");
                    continue;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// The columns of CHECK INDEX and CHECK TABLE.
const PROBLEM: [&str; 3] = ["index", "problem", "key"];

fn problem_rows(problems: Vec<crate::ddl::check::Problem>, tag: &str) -> Result<Outcome> {
    let rows: Vec<Vec<String>> =
        problems.into_iter().map(|found| vec![found.index, found.problem.to_string(), found.key]).collect();
    text_rows(&PROBLEM, &rows, tag)
}
