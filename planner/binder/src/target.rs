//! The target of INSERT, UPDATE and DELETE: a table, possibly through views.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::from::{Source, rename};
use super::scope::{Reading, Scope, ScopeColumn, ScopeRelation};
use super::table_expression::{bind_constant, has_subquery, table_relation};
use super::updatable::{self, Level, Reason};
use super::view::{Names, the_query, view_statement};
use super::{KEY_COLUMN, Verb};
use catalog::acl::Rights;
use catalog::{CheckOption, ColumnDescriptor, ColumnId, RelationKind, TableDescriptor};
use datafusion::common::{Column, DFSchemaRef, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use executor::dml::{Rules, table_schema};
use functions::ParameterTypes;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::{Span, ast, fold_name, parse_expression};
use types::{Datum, Oid};

/// The target of a writing statement.
pub struct Target {
    /// The table that is written.
    pub table: Arc<TableDescriptor>,
    /// The views through which it is written, outermost first.
    pub levels: Vec<Level>,
    verb: Verb,
}

/// The rows that UPDATE and DELETE find.
pub struct TargetRows<'p> {
    /// The plan, and the relation that the statement names.
    pub source: Source<'p>,
    /// Live columns of the table.
    pub columns: Vec<Expr>,
    /// Column with the rows' keys.
    pub key: Column,
}

impl Target {
    /// The relation that the statement names.
    pub fn named(&self) -> &Arc<TableDescriptor> {
        self.levels.first().map_or(&self.table, |level| &level.view)
    }
    /// The table's column behind a column of the view at a level.
    fn bottom(&self, level: usize, mut id: ColumnId) -> Option<ColumnId> {
        for level in self.levels.get(level..)? {
            id = level.below_of(id).ok()?;
        }
        Some(id)
    }
    /// The names of the table's columns in the relation at a level. Behind the last level is the table.
    fn names_at<'t>(&'t self, level: usize, ids: &'t [ColumnId]) -> impl Iterator<Item = &'t str> {
        let relation = self.levels.get(level).map_or(&self.table, |level| &level.view);
        let shown = move |column: &&ColumnDescriptor| self.bottom(level, column.id).is_some_and(|id| ids.contains(&id));
        relation.live_columns().filter(shown).map(|column| column.name.as_str())
    }
}

/// The error 0A000 for a column of a view that cannot be written.
fn not_written(what: &str, column: &str, level: &Level, reason: Reason) -> SqlError {
    let message = format!("cannot {what} column \"{column}\" of view \"{}\"", level.view.name);
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message).detail(reason)
}

/// The error 55000 for a view that cannot be written.
fn not_updatable(view: &TableDescriptor, verb: Verb, reason: Reason) -> SqlError {
    let (what, doing, event) = match verb {
        Verb::Insert => ("insert into", "inserting into", "INSERT"),
        Verb::Update => ("update", "updating", "UPDATE"),
        Verb::Delete | Verb::Merge | Verb::Select => ("delete from", "deleting from", "DELETE"),
    };
    SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("cannot {what} view \"{}\"", view.name))
        .detail(reason)
        .hint(format!(
            "To enable {doing} the view, provide an INSTEAD OF {event} trigger or an unconditional ON {event} DO INSTEAD rule."
        ))
}

impl Binder<'_> {
    /// Looks up the target of a statement. Errors: 42P01, 42809, 42501 for a system catalog, 55000 for a view that
    /// cannot be written.
    pub fn target(&self, name: &ast::Name, verb: Verb) -> Result<Target> {
        let mut table = self.table(name)?;
        let mut levels = Vec::new();
        loop {
            match table.kind {
                RelationKind::Table => return Ok(Target { table, levels, verb }),
                RelationKind::Sequence => {
                    let message = format!("cannot change sequence \"{}\"", table.name);
                    return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
                }
                RelationKind::SystemView => {
                    let verb = verb.name();
                    let message = format!("permission denied: \"{}\" is a system catalog ({verb})", table.name);
                    return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
                }
                RelationKind::View => match updatable::level(self.context.catalog, &table)? {
                    Ok(level) if verb != Verb::Delete && !level.has_columns() => {
                        return Err(not_updatable(&table, verb, updatable::NO_COLUMNS));
                    }
                    Ok(level) => {
                        table = level.below.clone();
                        self.note(&table);
                        levels.push(level);
                    }
                    Err(reason) => return Err(not_updatable(&table, verb, reason)),
                },
            }
        }
    }

    /// The table's column that a name of the statement refers to. Errors: 42703; 0A000 for a view's column that is not
    /// a column of its table.
    pub fn written_column<'t>(&self, target: &'t Target, name: &str, span: Span) -> Result<&'t ColumnDescriptor> {
        if target.verb != Verb::Insert && syntax::is_system_column(name) {
            let message = format!("cannot assign to system column \"{name}\"");
            return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), span));
        }
        let mut column = self.target_column(target.named(), name, span)?;
        for level in &target.levels {
            column = match level.below_of(column.id) {
                Ok(id) => {
                    level.below.column(id).ok_or_else(|| SqlError::internal("a view of a column that is gone"))?
                }
                Err(reason) => {
                    let what = if target.verb == Verb::Insert { "insert into" } else { "update" };
                    return Err(not_written(what, &column.name, level, reason));
                }
            };
        }
        Ok(column)
    }

    /// Rejects a default on a view's column that is not a column of the relation below: every INSERT would assign it.
    /// Errors: 0A000.
    pub fn refuse_lost_defaults(&self, target: &Target) -> Result<()> {
        for level in &target.levels {
            for column in level.view.live_columns().filter(|column| column.default.is_some()) {
                if let Err(reason) = level.below_of(column.id) {
                    return Err(not_written("insert into", &column.name, level, reason));
                }
            }
        }
        Ok(())
    }

    /// The default value of the table's column: that of a view, or its own.
    pub fn default_through(&self, target: &Target, column: &ColumnDescriptor) -> Result<Expr> {
        for (at, level) in target.levels.iter().enumerate() {
            let with_default = level.view.live_columns().filter(|own| own.default.is_some());
            let given = with_default.into_iter().find(|own| target.bottom(at, own.id) == Some(column.id));
            if let Some(text) = given.and_then(|own| own.default.as_ref()) {
                self.may_give(column)?;
                let (expr, source) = parse_expression(text)?;
                return Ok(bind_constant(&expr, &source, &column.name, column.ty, &self.context)?.expr);
            }
        }
        self.default_of(&target.table, column)
    }

    /// The value of `SET column = DEFAULT`. As in PostgreSQL, a view's column without its own default gets NULL.
    pub fn set_default(&self, target: &Target, name: &str, column: &ColumnDescriptor) -> Result<Expr> {
        let of_view = target.levels.first().and_then(|level| level.view.column_named(name));
        match of_view {
            Some(own) if own.default.is_none() => Ok(Expr::Literal(Datum::try_from(&column.ty.arrow())?, None)),
            _ => self.default_through(target, column),
        }
    }

    /// The role whose privileges on the relation at a level count.
    fn role_at(&self, target: &Target, level: usize) -> Option<Oid> {
        let asked = self.acting()?;
        let above = level.checked_sub(1).and_then(|above| target.levels.get(above));
        Some(above.and_then(|above| super::role_below(&above.view)).unwrap_or(asked))
    }

    /// Checks that the statement's role and the owners of the views may write columns of the table. Errors: 42501.
    pub fn require_written(&self, target: &Target, rights: Rights, ids: &[ColumnId]) -> Result<()> {
        for level in 0..=target.levels.len() {
            let Some(role) = self.role_at(target, level) else { return Ok(()) };
            let relation = target.levels.get(level).map_or(&target.table, |level| &level.view);
            self.require_columns_as(role, relation, rights, target.names_at(level, ids))?;
        }
        Ok(())
    }

    /// Like [`Binder::require_written`], for a privilege on the whole relation.
    pub fn require_whole(&self, target: &Target, rights: Rights) -> Result<()> {
        for level in 0..=target.levels.len() {
            let Some(role) = self.role_at(target, level) else { return Ok(()) };
            self.require_as(role, target.levels.get(level).map_or(&target.table, |level| &level.view), rights)?;
        }
        Ok(())
    }

    /// The rows of the target of UPDATE and DELETE.
    pub fn target_rows<'p>(&self, target: &Target, alias: Option<&ast::Alias>) -> Result<TargetRows<'p>> {
        let parameters = ParameterTypes::new(Vec::new());
        let mut reader = Binder::new(self.context, self.source, &parameters);
        reader.owner = if target.levels.is_empty() { self.owner } else { self.role_at(target, target.levels.len()) };
        reader.writing.set(true);
        let view = Reading::along_with(None);
        reader.beneath = (!target.levels.is_empty()).then(|| Arc::clone(&view));
        reader.share_names_with(self);
        let scanned = reader.scan(&target.table, alias.filter(|_| target.levels.is_empty()), None);
        self.share_names_with(&reader);
        let Source { mut plan, scope } = scanned?;
        let Some(base) = scope.relations.into_iter().next() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        let Some(key) = base.key.clone() else {
            return Err(SqlError::internal(format!("table \"{}\" has no row key", target.table.name)));
        };
        let columns = base.columns.iter().map(|column| column.expr.clone()).collect();
        let schema = plan.schema().clone();
        let (mut relation, filters) = self.through(target, base, &schema, &view)?;
        for filter in filters.into_iter().flatten() {
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        if let Some(name) = alias.and_then(|alias| alias.name.as_ref()) {
            relation.name = name.value.clone();
            relation.schema = None;
        }
        Ok(TargetRows { source: Source::of(plan, relation, None), columns, key })
    }

    /// The relation that the statement names, over the columns of its table.
    pub fn named_relation(
        &self,
        target: &Target,
        shown: &str,
        qualifier: &TableReference,
        schema: &DFSchemaRef,
    ) -> Result<ScopeRelation> {
        let mut base = table_relation(&target.table, shown, qualifier);
        let view = Reading::along_with(None);
        if let Some(role) = self.role_at(target, target.levels.len()) {
            self.watch(role, &target.table, &mut base, Some(&view).filter(|_| !target.levels.is_empty()));
        }
        let mut relation = self.through(target, base, schema, &view)?.0;
        relation.name = shown.to_string();
        relation.schema = (shown == target.named().name).then(|| target.named().schema.clone());
        Ok(relation)
    }

    /// The columns of the named view over those of its table, and the conditions of the views, innermost first. `view`
    /// records reads of the named view.
    fn through(
        &self,
        target: &Target,
        base: ScopeRelation,
        schema: &DFSchemaRef,
        view: &Arc<Reading>,
    ) -> Result<(ScopeRelation, Vec<Option<Expr>>)> {
        let mut relation = base;
        let mut filters = Vec::new();
        for (at, level) in target.levels.iter().enumerate().rev() {
            let stored = level.view.view.as_ref().ok_or_else(|| SqlError::internal("a view without a query"))?;
            let statement = view_statement(stored)?;
            let parameters = ParameterTypes::new(Vec::new());
            let mut inner = Binder::new(self.context, &statement.source, &parameters);
            inner.names = Names::Of(stored);
            inner.depth = self.depth + 1;
            inner.owner = self.role_at(target, at + 1);
            inner.share_names_with(self);
            let bound = inner.view_columns(level, relation, schema).map_err(SqlError::without_position);
            self.share_names_with(&inner);
            let (mut outer, filter) = bound?;
            if at == 0 {
                outer.columns.iter_mut().for_each(|column| column.reading = Some(Arc::clone(view)));
                outer.reading = Some(Arc::clone(view));
            }
            if let Some(role) = self.role_at(target, at) {
                self.watch(role, &level.view, &mut outer, Some(view).filter(|_| at > 0));
            }
            relation = outer;
            filters.push(filter);
        }
        Ok((relation, filters))
    }

    /// Binds a view's query: its columns over those of the relation below, and its condition.
    fn view_columns(
        &self,
        level: &Level,
        below: ScopeRelation,
        schema: &DFSchemaRef,
    ) -> Result<(ScopeRelation, Option<Expr>)> {
        let Names::Of(stored) = self.names else { return Err(SqlError::internal("the names of no view")) };
        let statement = view_statement(stored)?;
        let select = updatable::the_select(the_query(&statement)?).map_err(SqlError::internal)?;
        let (name, alias) = updatable::the_relation(select).map_err(SqlError::internal)?;
        let shown = match alias.and_then(|alias| alias.name.as_ref()) {
            Some(alias) => alias.value.clone(),
            None => fold_name(name)?.1,
        };
        let mut columns = self.seen_columns(level.below.oid, below.columns);
        rename(&shown, &mut columns, alias)?;
        let key = below.key;
        let inside = ScopeRelation {
            present: None,
            scalar: false,
            name: shown,
            schema: alias.is_none().then(|| level.below.schema.clone()),
            columns,
            table: Some(level.below.clone()),
            row_of: level.below.oid,
            key: key.clone(),
            keys: Vec::new(),
            unlockable: None,
            reading: below.reading,
        };
        let scope = Scope::of(inside, schema.clone(), None);
        let items = self.items(&select.targets, Env::new(&scope, Clause::Select))?;
        let filter = match &select.filter {
            Some(filter) => Some(self.predicate(filter, Env::new(&scope, Clause::Where))?),
            None => None,
        };
        let mut columns = Vec::with_capacity(items.len());
        for (item, column) in items.into_iter().zip(level.view.live_columns()) {
            let typed = self.coerce(self.settle(item.typed)?, column.ty)?;
            columns.push(ScopeColumn {
                name: column.name.clone(),
                expr: typed.expr,
                ty: column.ty,
                table_oid: level.view.oid,
                attnum: column.id,
                reading: None,
            });
        }
        let relation = ScopeRelation {
            present: None,
            scalar: false,
            name: level.view.name.clone(),
            schema: Some(level.view.schema.clone()),
            columns,
            table: Some(level.view.clone()),
            row_of: level.view.oid,
            key,
            keys: Vec::new(),
            unlockable: None,
            reading: None,
        };
        Ok((relation, filter))
    }

    /// The constraints and computed expressions of the table, and the check options of the views.
    pub fn target_rules(&self, target: &Target) -> Result<Rules> {
        let mut rules = self.rules(&target.table)?;
        let mut cascaded = false;
        let mut checked = Vec::with_capacity(target.levels.len());
        for level in &target.levels {
            let option = level.view.view.as_ref().and_then(|view| view.check_option);
            checked.push(cascaded || option.is_some());
            cascaded |= option == Some(CheckOption::Cascaded);
        }
        if target.verb == Verb::Delete || !checked.contains(&true) {
            return Ok(rules);
        }
        let qualifier = TableReference::bare(target.table.name.as_str());
        let schema: DFSchemaRef = Arc::new(table_schema(&target.table, &qualifier)?);
        let base = table_relation(&target.table, &target.table.name, &qualifier);
        let (_, filters) = self.through(target, base, &schema, &Reading::along_with(None))?;
        let levels = target.levels.iter().zip(checked).rev();
        for ((level, _), filter) in levels.zip(filters).filter(|((_, checked), _)| *checked) {
            let Some(filter) = filter else { continue };
            if has_subquery(&filter) {
                return Err(SqlError::unsupported("WITH CHECK OPTION of a view whose condition has a subquery"));
            }
            rules.views.push((level.view.name.clone(), filter.is_true()));
        }
        Ok(rules)
    }

    /// The first input columns of UPDATE's and DELETE's node: the row key, then the table's columns.
    pub fn old_row(&self, rows: &TargetRows<'_>) -> Vec<Expr> {
        let mut exprs = vec![Expr::Column(rows.key.clone()).alias(format!("{KEY_COLUMN}{}", self.unique("")))];
        exprs.extend(rows.columns.iter().cloned());
        exprs
    }

    /// The table's column that ON CONFLICT names. Errors: 42703.
    pub fn conflict_column(&self, target: &Target, ident: &ast::Ident) -> Result<Option<ColumnId>> {
        let column = target.named().column_named(&ident.value).ok_or_else(|| {
            let message = format!("column \"{}\" does not exist", ident.value);
            self.at_bracket(SqlError::new(state::UNDEFINED_COLUMN, message), ident.span)
        })?;
        Ok(target.bottom(0, column.id))
    }
}
