//! Dispatches statements: transaction control, queries and writes, data definition, utilities.

use super::outcome::{Outcome, OutputColumn};
use super::prepared::Prepared;
use super::query::{IdentifiedTables, PlannedQuery, Surroundings};
use super::statement::Statement;
use super::stream::Limits;
use super::{Session, copy, run};
use crate::bind::denies_schema;
use crate::catalog::TableDescriptor;
use crate::ddl::{self, DdlContext};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::parse::{StatementKind, ast};
use crate::settings::Settings;
use crate::types::{Datum, SqlType};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether a statement is a query or write with a plan.
pub fn is_planned(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Sql(tree) if matches!(
            tree.as_ref(),
            ast::Statement::Query(_)
                | ast::Statement::Insert(_)
                | ast::Statement::Update(_)
                | ast::Statement::Delete(_)
                | ast::Statement::Merge(_)
        )
    )
}

/// A statement of data definition.
#[derive(Clone, Copy)]
pub(super) enum Definition<'a> {
    Sql(&'a ast::Statement),
    Schema(&'a crate::parse::CreateSchema),
    Reindex(&'a crate::parse::Reindex),
    Settings(&'a crate::parse::AlterSettings),
    Database(&'a crate::parse::DatabaseStatement),
    DefaultPrivileges(&'a crate::parse::DefaultPrivileges),
    Grant(&'a crate::parse::Grant),
    ReassignOwned(&'a [String], &'a str),
    DropOwned(&'a [String], bool),
    CreateView(&'a crate::parse::CreateView),
    Comment(&'a crate::parse::Comment),
    LargeObject(crate::types::Oid, &'a str),
    DropAbsent(&'a crate::parse::DropAbsent),
    /// CREATE TABLE AS, the columns of its query, and a slot for the created table.
    TableAs(&'a crate::parse::CreateTableAs, &'a [OutputColumn], &'a Mutex<Option<TableDescriptor>>),
}

pub(super) fn done(tag: impl Into<String>) -> Outcome {
    Outcome::Command { tag: tag.into() }
}

impl Session {
    /// 25P02 for every statement of a failed block that does not end it.
    pub(super) fn refuse_in_failed_block(&self, statement: &Statement) -> Result<()> {
        let ends = matches!(
            statement.kind,
            StatementKind::Commit { .. } | StatementKind::Rollback { .. } | StatementKind::RollbackTo(_)
        );
        if self.block.is_failed() && !ends {
            return Err(in_failed_block());
        }
        Ok(())
    }

    /// Determines the parameters and columns of a statement.
    pub(super) async fn prepare_statement(
        &mut self,
        statement: Arc<Statement>,
        given: Vec<Option<SqlType>>,
    ) -> Result<Arc<Prepared>> {
        if let StatementKind::Explain(explain) = &statement.kind
            && is_planned(&explain.statement.kind)
        {
            let planned = self.planned(&Arc::new(explain.statement.clone()), &given).await?;
            let columns = Some(super::explain_statement::columns_of(explain));
            let parameters = planned.parameters.clone();
            return Ok(Arc::new(Prepared {
                statement,
                parameters,
                columns,
                given,
                sent: None,
                planned: Mutex::new(None),
                kept: OnceLock::new(),
            }));
        }
        if let StatementKind::DeclareCursor(declare) = &statement.kind {
            let planned = self.planned(&Arc::new(declare.query.clone()), &given).await?;
            let parameters = planned.parameters.clone();
            return Ok(Arc::new(Prepared {
                statement,
                parameters,
                columns: None,
                given,
                sent: None,
                planned: Mutex::new(None),
                kept: OnceLock::new(),
            }));
        }
        if !is_planned(&statement.kind) {
            let columns = self.utility_columns(&statement).await?;
            return Ok(Arc::new(Prepared::utility(statement, columns)));
        }
        let planned = match self.planned(&statement, &given).await {
            // Most privileges are checked at run time. The privilege to look up a name is checked here.
            Err(error) if error.state() == state::INSUFFICIENT_PRIVILEGE && !denies_schema(&error) => {
                let unchecked = Arc::new(self.shared.settings().unchecked());
                self.planned_by(&statement, &given, unchecked).await?
            }
            planned => planned?,
        };
        Ok(Arc::new(Prepared {
            parameters: planned.parameters.clone(),
            columns: planned.columns.clone(),
            given,
            sent: None,
            planned: Mutex::new(Some(planned)),
            kept: OnceLock::new(),
            statement,
        }))
    }

    /// The plan of a query or write for the present catalog and settings.
    pub(super) async fn planned(
        &mut self,
        statement: &Arc<Statement>,
        given: &[Option<SqlType>],
    ) -> Result<Arc<PlannedQuery>> {
        self.planned_by(statement, given, self.shared.settings()).await
    }

    async fn planned_by(
        &mut self,
        statement: &Arc<Statement>,
        given: &[Option<SqlType>],
        settings: Arc<Settings>,
    ) -> Result<Arc<PlannedQuery>> {
        self.planned_identifying(statement, &IdentifiedTables::default(), given, settings).await
    }

    /// The same with further columns that identify the rows of tables.
    pub(super) async fn planned_identifying(
        &mut self,
        statement: &Arc<Statement>,
        tables: &IdentifiedTables,
        given: &[Option<SqlType>],
        settings: Arc<Settings>,
    ) -> Result<Arc<PlannedQuery>> {
        let part = self.block.statement(false).await?;
        let (catalog, now) = (part.catalog, part.started);
        let surroundings = Surroundings::new(&catalog, &settings);
        self.catalog = Some(catalog.clone());
        let identifying = !tables.is_empty();
        self.database.plans().get_or_plan((statement, identifying), given, surroundings, &catalog, || {
            let engine = self.database.engine();
            PlannedQuery::identifying(engine, (statement, tables), &catalog, &settings, given, now)
        })
    }

    /// The context of a statement that begins now and takes a command number.
    pub(super) async fn begin_statement(&mut self, parameters: Vec<Datum>) -> Result<Arc<StatementContext>> {
        self.begin_statement_of(parameters, false).await
    }

    /// The same for a statement that may be quiet ([`txn::Transaction::for_statement`]).
    async fn begin_statement_of(&mut self, parameters: Vec<Datum>, quiet: bool) -> Result<Arc<StatementContext>> {
        let part = self.block.statement_of(true, quiet).await?;
        self.catalog = Some(part.catalog.clone());
        Ok(Arc::new(StatementContext {
            parameters,
            transaction: part.transaction,
            command: part.command,
            catalog: part.catalog,
            settings: self.shared.settings(),
            session: self.shared.clone(),
            transaction_time: part.started,
            statement_time: self.block.moment(),
            held: Default::default(),
            for_reference: false,
            view_rows: Default::default(),
        }))
    }

    /// Runs every statement except transaction control. Queries and writes are many and short. The futures of all
    /// others are large, so they are boxed instead of moved.
    pub(super) async fn dispatch(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: Vec<Datum>,
        limits: &Limits,
    ) -> Result<Outcome> {
        match is_planned(&prepared.statement.kind) {
            true => self.run_planned(prepared, parameters, limits).await,
            false => Box::pin(self.run_unplanned(prepared, parameters, limits)).await,
        }
    }

    async fn run_unplanned(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: Vec<Datum>,
        limits: &Limits,
    ) -> Result<Outcome> {
        let statement = prepared.statement.clone();
        match &statement.kind {
            StatementKind::Sql(tree) => match tree.as_ref() {
                ast::Statement::CreateIndex(create) if statement.alone && self.block.is_untouched() => {
                    self.create_index_online(create).await
                }
                tree => {
                    self.prepare_temporary(&statement).await?;
                    if self.block.read_only() {
                        return Err(refused_in_read_only(&first_words(tree)));
                    }
                    self.define(Definition::Sql(tree)).await
                }
            },
            StatementKind::Comment(comment) => self.define_writing("COMMENT", Definition::Comment(comment)).await,
            StatementKind::DropAbsent(drop) => self.define_writing("DROP", Definition::DropAbsent(drop)).await,
            StatementKind::Grant(grant) => {
                let what = if grant.grants { "GRANT" } else { "REVOKE" };
                self.define_writing(what, Definition::Grant(grant)).await
            }
            StatementKind::AlterSettings(alter) => {
                let what = if alter.role == crate::parse::SettingRole::All { "ALTER DATABASE" } else { "ALTER ROLE" };
                self.define_writing(what, Definition::Settings(alter)).await
            }
            StatementKind::Database(statement) => {
                if statement.words() != "ALTER DATABASE" {
                    self.refuse_in_block(statement.words())?;
                }
                self.define_writing(statement.words(), Definition::Database(statement)).await
            }
            StatementKind::DefaultPrivileges(alter) => {
                self.define_writing("ALTER DEFAULT PRIVILEGES", Definition::DefaultPrivileges(alter)).await
            }
            StatementKind::ReassignOwned { from, to } => {
                self.define_writing("REASSIGN OWNED", Definition::ReassignOwned(from, to)).await
            }
            StatementKind::DropOwned { of, cascade } => {
                self.define_writing("DROP OWNED", Definition::DropOwned(of, *cascade)).await
            }
            StatementKind::Reindex(reindex) => {
                use crate::parse::ReindexKind as K;
                if reindex.concurrently || !matches!(reindex.kind, K::Index | K::Table) {
                    let what = if reindex.concurrently { "REINDEX CONCURRENTLY" } else { "REINDEX" };
                    self.refuse_in_block(what)?;
                }
                self.define_writing("REINDEX", Definition::Reindex(reindex)).await
            }
            StatementKind::CreateSchema(create) => self.create_schema(create, limits).await,
            StatementKind::CreateTableAs(create) => {
                self.prepare_temporary(&statement).await?;
                self.create_table_as(create).await
            }
            StatementKind::CreateView(create) => {
                // A view of a temporary relation is temporary.
                self.prepare_temporary(&statement).await?;
                self.define_writing("CREATE VIEW", Definition::CreateView(create)).await
            }
            StatementKind::SetConstraints { names, deferred } => {
                self.set_constraints(statement.alone, names.as_deref(), *deferred).await
            }
            StatementKind::AlterLargeObject { oid, owner } => {
                self.define_writing("ALTER LARGE OBJECT", Definition::LargeObject(*oid, owner)).await
            }
            StatementKind::Copy(copy) => self.run_copy(copy, limits).await,
            StatementKind::Execute { name, parameters } => {
                let (target, values) = self.execute_arguments(&statement, name, parameters).await?;
                if is_planned(&target.statement.kind) {
                    return self.run_planned(&target, values, limits).await;
                }
                Box::pin(self.dispatch(&target, values, limits)).await
            }
            StatementKind::DeclareCursor(declare) => self.declare_cursor(declare, prepared, parameters).await,
            StatementKind::Explain(explain) => self.run_explain(explain, prepared, parameters).await,
            _ => self.run_utility(&statement).await,
        }
    }

    async fn run_planned(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: Vec<Datum>,
        limits: &Limits,
    ) -> Result<Outcome> {
        // A write without rows returns only a count or an error.
        let renewable = self.block.is_renewable();
        let context = self.begin_statement_of(parameters, prepared.columns.is_none()).await?;
        let surroundings = Surroundings::new(&context.catalog, &context.settings);
        let before = prepared.planned.lock().clone();
        let current = before.clone().filter(|planned| {
            planned.surroundings.serve(&surroundings) && self.database.plans().is_good(planned, &context.catalog)
        });
        let planned = match current {
            Some(planned) => planned,
            None => {
                let settings = match &before {
                    Some(before) => Arc::new(context.settings.reading_as(&before.settings)?),
                    None => context.settings.clone(),
                };
                let (statement, given) = (&prepared.statement, &prepared.given);
                let mut planned = Box::pin(self.planned_by(statement, given, settings.clone())).await?;
                if planned.parameters != prepared.parameters {
                    // The types inferred first are kept: the columns compared with parameters may have other types now.
                    let given: Vec<_> = prepared.parameters.iter().copied().map(Some).collect();
                    planned = Box::pin(self.planned_by(statement, &given, settings)).await?;
                }
                if !same_columns(planned.columns.as_deref(), prepared.columns.as_deref())
                    || planned.parameters != prepared.parameters
                {
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cached plan must not change result type"));
                }
                *prepared.planned.lock() = Some(planned.clone());
                planned
            }
        };
        crate::session::referential::references_of(&self.shared).lock().begin();
        let mut outcome = run::run_planned(&planned, context.clone(), self.block.read_only(), limits).await;
        if outcome.is_ok()
            && !crate::session::referential::references_of(&self.shared).lock().is_empty()
            && let Err(error) = Box::pin(super::referential::enforce(&self.database, &context)).await
        {
            outcome = Err(error);
        }
        if let Err(error) = &outcome
            && error.fields().outdated
            && (renewable || !context.transaction.isolation().has_one_snapshot())
        {
            // Retries with the newest definition and keeps the locks.
            match context.transaction.isolation().has_one_snapshot() {
                true => self.block.renew().await?,
                false => self.block.run_again(context.command),
            }
            let parameters = context.parameters.clone();
            drop((context, planned));
            return Box::pin(self.run_planned(prepared, parameters, limits)).await;
        }
        if !matches!(outcome, Ok(Outcome::Command { .. })) {
            // The rows, and the text of an error, reveal what the statement read.
            context.transaction.settled().await?;
        }
        outcome
    }

    /// CREATE SCHEMA with its elements, as one statement.
    async fn create_schema(&mut self, create: &crate::parse::CreateSchema, limits: &Limits) -> Result<Outcome> {
        let outcome = self.define_writing("CREATE SCHEMA", Definition::Schema(create)).await?;
        if create.elements.is_empty() {
            return Ok(outcome);
        }
        let settings = self.shared.settings();
        let given = create.owner.as_ref().map(|owner| ddl::named_role(&settings, owner));
        let name = create.name.clone().or_else(|| given.clone()).unwrap_or_default();
        let path = settings.get("search_path").unwrap_or_default();
        let within = format!("{}, {path}", crate::parse::names::quote(&name));
        let role = settings.get("role").unwrap_or_else(|| "none".into());
        let owner = given.unwrap_or_else(|| role.clone());
        self.shared.with_settings(|stack| {
            stack.set_fixed_local("search_path", &within)?;
            stack.set_fixed_local("role", &owner)
        })?;
        for element in &create.elements {
            let prepared = self.prepare_statement(Arc::new(element.clone()), Vec::new()).await?;
            Box::pin(self.dispatch(&prepared, Vec::new(), limits)).await?;
        }
        self.shared.with_settings(|stack| {
            stack.set_fixed_local("search_path", &path)?;
            stack.set_fixed_local("role", &role)
        })?;
        Ok(outcome)
    }

    async fn define_writing(&mut self, what: &str, definition: Definition<'_>) -> Result<Outcome> {
        if self.block.read_only() {
            return Err(refused_in_read_only(what));
        }
        self.define(definition).await
    }

    /// Runs a statement of data definition. If it waited for a lock and its snapshot is older than the wait, it runs
    /// again with a new snapshot and the same locks.
    pub(super) async fn define(&mut self, definition: Definition<'_>) -> Result<Outcome> {
        let said = self.shared.notice_count();
        loop {
            let renewable = self.block.is_renewable();
            let mut ddl = self.begin_ddl().await?;
            ddl.renewable = renewable;
            let new_snapshots = !ddl.transaction.isolation().has_one_snapshot();
            ddl.repeatable = renewable || new_snapshots;
            let command = ddl.transaction.command();
            let tag = match definition {
                Definition::Settings(alter) => ddl::alter_settings(&ddl, alter).await,
                Definition::Database(statement) => ddl::database(&ddl, statement).await,
                Definition::DefaultPrivileges(alter) => ddl::alter_default_privileges(&ddl, alter).await,
                Definition::Grant(grant) => ddl::grant(&ddl, grant).await,
                Definition::ReassignOwned(from, to) => ddl::reassign_owned(&ddl, from, to).await,
                Definition::DropOwned(of, cascade) => ddl::drop_owned(&ddl, of, cascade).await,
                Definition::Reindex(reindex) => ddl::reindex(&ddl, reindex).await,
                Definition::Sql(tree) => ddl::execute(&ddl, tree).await,
                Definition::Schema(create) => ddl::create_schema(&ddl, create).await,
                Definition::CreateView(create) => ddl::create_view(&ddl, create).await,
                Definition::Comment(comment) => ddl::comment(&ddl, comment).await,
                Definition::LargeObject(oid, owner) => ddl::alter_large_object(&ddl, oid, owner).await,
                Definition::DropAbsent(drop) => ddl::drop_absent(&ddl, drop),
                Definition::TableAs(create, columns, made) => {
                    ddl::create_table_as(&ddl, create, columns).await.map(|table| {
                        *made.lock() = table;
                        "CREATE TABLE AS".to_string()
                    })
                }
            };
            self.block.catalog_changed();
            if tag.is_err() && ddl.stale.load(Ordering::SeqCst) {
                match new_snapshots {
                    true => self.block.run_again(command),
                    false => self.block.renew().await?,
                }
                self.shared.keep_notices(said);
                continue;
            }
            return Ok(done(tag?));
        }
    }

    /// CREATE INDEX outside a block: in transactions of its own, while other sessions write.
    async fn create_index_online(&mut self, create: &ast::CreateIndex) -> Result<Outcome> {
        if self.block.read_only() {
            return Err(refused_in_read_only("CREATE INDEX"));
        }
        let user = self.begin_statement(Vec::new()).await?.role();
        let context = ddl::online::OnlineContext {
            store: self.database.catalog().clone(),
            settings: self.shared.settings(),
            session: self.shared.clone(),
            user,
            database: self.shared.database_oid,
        };
        // An implicit transaction that only resolved names no longer needs its snapshot.
        self.block.end_implicit().await?;
        Ok(done(ddl::online::create(context, create.clone()).await?))
    }

    /// The context of a statement of data definition.
    pub(super) async fn begin_ddl(&mut self) -> Result<DdlContext> {
        let context = self.begin_statement(Vec::new()).await?;
        let locks = self.block.locks().ok_or_else(|| SqlError::internal("a transaction without locks"))?;
        let user = context.role();
        Ok(DdlContext {
            store: self.database.catalog().clone(),
            transaction: context.transaction.clone(),
            catalog: context.catalog.clone(),
            locks,
            settings: context.settings.clone(),
            session: self.shared.clone(),
            user,
            transaction_time: context.transaction_time,
            renewable: false,
            repeatable: false,
            stale: AtomicBool::new(false),
        })
    }

    /// 25001 for a statement that cannot be undone.
    pub(super) fn refuse_in_block(&self, what: &str) -> Result<()> {
        match self.block.status() {
            super::TransactionStatus::InBlock => Err(in_block(what)),
            _ => Ok(()),
        }
    }

    async fn run_copy(&mut self, copy: &crate::parse::copy::Copy, limits: &Limits) -> Result<Outcome> {
        if copy.from && self.block.read_only() {
            return Err(refused_in_read_only("COPY FROM"));
        }
        let context = self.begin_statement(Vec::new()).await?;
        if copy.from {
            Ok(Outcome::CopyIn(Box::new(copy::begin_input(&self.database, copy, context, limits).await?)))
        } else {
            let planned = match &copy.target {
                crate::parse::copy::CopyTarget::Query(query) => {
                    Some(self.planned(&Arc::new(query.as_ref().clone()), &[]).await?)
                }
                crate::parse::copy::CopyTarget::Table { .. } => None,
            };
            let read_only = self.block.read_only();
            let begun = copy::begin_output(&self.database, copy, planned, context, read_only, limits);
            Ok(Outcome::CopyOut(begun.await?))
        }
    }
}

/// 25P02: the block has failed.
pub fn in_failed_block() -> SqlError {
    SqlError::new(
        state::IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}

/// Whether two results look alike to a client. The tables behind them may differ.
fn same_columns(one: Option<&[OutputColumn]>, other: Option<&[OutputColumn]>) -> bool {
    let shape = |columns: &[OutputColumn]| -> Vec<(String, SqlType)> {
        columns.iter().map(|column| (column.name.clone(), column.ty)).collect()
    };
    one.map(shape) == other.map(shape)
}

/// 25006: the transaction is read-only.
pub fn refused_in_read_only(what: &str) -> SqlError {
    SqlError::new(state::READ_ONLY_SQL_TRANSACTION, format!("cannot execute {what} in a read-only transaction"))
}

/// `CREATE TABLE` and the like, for messages.
pub fn first_words(tree: &ast::Statement) -> String {
    use ast::Statement as S;
    let words = match tree {
        S::CreateTable(_) => "CREATE TABLE",
        S::CreateIndex(_) => "CREATE INDEX",
        S::CreateSequence(_) => "CREATE SEQUENCE",
        S::Role(role) => {
            if role.create {
                "CREATE ROLE"
            } else {
                "ALTER ROLE"
            }
        }
        S::DropRole(_) => "DROP ROLE",
        S::Truncate(_) => "TRUNCATE TABLE",
        other => return other.to_string().split_whitespace().take(2).collect::<Vec<_>>().join(" "),
    };
    words.to_string()
}

pub(super) fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Text columns for the results of SHOW and EXPLAIN.
pub fn text_columns(names: &[&str]) -> Arc<[OutputColumn]> {
    names.iter().map(|name| OutputColumn::computed(*name, SqlType::TEXT)).collect()
}

fn in_block(what: &str) -> SqlError {
    SqlError::new(state::ACTIVE_SQL_TRANSACTION, format!("{what} cannot run inside a transaction block"))
}

/// Refuses statements that cannot be undone within a text of several statements, which form
/// one transaction. Errors: 25001.
pub(super) fn refuse_among_others(statement: &Statement) -> Result<()> {
    let what = match &statement.kind {
        _ if statement.alone => return Ok(()),
        StatementKind::Vacuum { .. } => "VACUUM",
        StatementKind::Discard(crate::parse::Discard::All) => "DISCARD ALL",
        StatementKind::Database(database) if database.words() != "ALTER DATABASE" => database.words(),
        _ => return Ok(()),
    };
    Err(in_block(what))
}
