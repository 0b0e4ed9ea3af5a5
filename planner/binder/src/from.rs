//! FROM: tables, subqueries, functions, each with its alias. Joins are in `join`, LATERAL is in `lateral`.

use super::KEY_COLUMN;
use super::binder::{Binder, column};
use super::expression::{Clause, Env};
use super::query::BoundQuery;
use super::row_function::RowSource;
use super::scope::{Before, Scope, ScopeColumn, ScopeRelation};
use super::table_arguments::{BoundFunction, TableFunction, table_function};
use super::view_function::as_view;
use catalog::{RelationKind, TableDescriptor};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::CastContext;
use functions::json::RecordSource;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{self, FromItem, JoinKind};
use syntax::fold_name;
use types::{Datum, SqlType};

/// A plan and the names in it.
pub struct Source<'p> {
    /// The plan of the rows.
    pub plan: LogicalPlan,
    /// The visible names of the plan's columns.
    pub scope: Scope<'p>,
}

impl<'p> Source<'p> {
    /// A source with a single relation.
    pub fn of(plan: LogicalPlan, relation: ScopeRelation, parent: Option<&'p Scope<'p>>) -> Self {
        let schema = plan.schema().clone();
        Source { plan, scope: Scope::of(relation, schema, parent) }
    }
}

impl Binder<'_> {
    /// Binds a whole FROM clause. An empty clause gives one row without columns.
    pub fn from<'p>(&self, from: &[FromItem], parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        let mut whole: Option<Source<'p>> = None;
        for item in from {
            let (first, joins) = parts(item);
            let lateral = is_lateral(item);
            let mut source = match whole.take() {
                // The join's additional rows belong to each row before the comma.
                Some(left) if lateral && joins.iter().any(|join| adds_to_the_left(join.kind)) => {
                    whole = Some(self.lateral(left, item, parent)?);
                    continue;
                }
                Some(left) if lateral => {
                    let before = left.scope.whole();
                    let mut source = self.comma(left, first, parent)?;
                    source.scope.before = before;
                    source
                }
                Some(left) if joins.is_empty() => self.comma(left, first, parent)?,
                left => {
                    let before = left.as_ref().map_or(&[][..], |left| &left.scope.relations);
                    let source = self.beside(before, || self.joined(first, &joins, parent))?;
                    whole = Some(match left {
                        Some(left) => self.cross(left, source)?,
                        None => source,
                    });
                    continue;
                }
            };
            for join in joins {
                source = self.join(source, join, parent)?;
            }
            source.scope.before = Before::default();
            whole = Some(source);
        }
        match whole {
            Some(source) => Ok(source),
            None => {
                let plan = LogicalPlanBuilder::empty(true).build()?;
                let mut scope = Scope::empty(parent);
                scope.schema = Some(plan.schema().clone());
                Ok(Source { plan, scope })
            }
        }
    }

    /// Binds an item and the joins behind it.
    fn joined<'p>(&self, first: &FromItem, joins: &[&ast::Join], parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        let mut source = self.factor(first, parent)?;
        for join in joins {
            source = self.join(source, join, parent)?;
        }
        Ok(source)
    }

    fn comma<'p>(&self, left: Source<'p>, item: &FromItem, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        if is_lateral(item) {
            return self.lateral(left, item, parent);
        }
        let right = self.beside(&left.scope.relations, || self.factor(item, parent))?;
        self.cross(left, right)
    }

    /// Binds an item of FROM that cannot see the items to its left.
    pub fn factor<'p>(&self, item: &FromItem, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        syntax::deeper(|| self.rows_of_item(item, parent))
    }

    fn rows_of_item<'p>(&self, item: &FromItem, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        match item {
            // No table has children, so ONLY changes nothing.
            FromItem::Table { relation, alias, sample, span: _ } => {
                self.named_item(&relation.name, alias.as_ref(), sample.as_ref(), parent)
            }
            FromItem::Query { lateral: _, query, alias, span: _ } => {
                let name = query_name(alias.as_ref())?;
                self.push_into(&name);
                let bound = self.query(query, parent)?;
                self.derived(bound, &name, alias.as_ref(), parent)
            }
            FromItem::Function { .. } => {
                if let Some(view) = as_view(item) {
                    return self.factor(&view, parent);
                }
                let function = table_function(item)?;
                let function = function.ok_or_else(|| SqlError::internal("a function in FROM that is none"))?;
                let scope = Scope::empty(parent);
                let bound = self.table_function(&function, Env::new(&scope, Clause::FromFunction))?;
                let plan = LogicalPlanBuilder::empty(true).build()?;
                self.function_rows(plan, Vec::new(), &function, bound, parent)
            }
            FromItem::Join(join) => {
                let (first, joins) = chain(join);
                let source = self.joined(first, &joins, parent)?;
                let Some(alias) = &join.alias else { return Ok(source) };
                self.hide(&source.scope.relations);
                let name = shown_name(Some(alias), "");
                let mut columns = source.scope.visible;
                rename(&name, &mut columns, Some(alias))?;
                let unlockable = Some("a join");
                let relation = ScopeRelation { unlockable, ..ScopeRelation::of_columns(name, columns) };
                Ok(Source::of(source.plan, relation, parent))
            }
        }
    }

    /// Binds a table, view or query of WITH.
    fn named_item<'p>(
        &self,
        name: &ast::Name,
        alias: Option<&ast::Alias>,
        sample: Option<&ast::Sample>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        if let [ident] = name.parts.as_slice()
            && let Some(query) = self.common_table(&ident.value).map_err(|error| self.at(error, ident.span))?
        {
            if sample.is_some() {
                return Err(self.at(super::sample::no_table(), ident.span));
            }
            let mut source = self.derived(query, &ident.value, alias, parent)?;
            for relation in &mut source.scope.relations {
                relation.unlockable = Some("a WITH query");
            }
            return Ok(source);
        }
        let table = self.table(name)?;
        let mut source = self.scan(&table, alias, parent)?;
        if let Some(sample) = sample {
            source = self.sampled(source, sample, name.span)?;
        }
        if alias.is_none()
            && let Some(relation) = source.scope.relations.first_mut()
        {
            // A view names a relation as it was called when the view was made.
            relation.name = fold_name(name)?.1;
        }
        Ok(source)
    }

    /// The rows of a table.
    pub fn scan<'p>(
        &self,
        table: &Arc<TableDescriptor>,
        alias: Option<&ast::Alias>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        if table.kind == RelationKind::Sequence {
            self.require(table, catalog::acl::SELECT)?;
            return self.sequence_row(table, alias, parent);
        }
        if table.kind == RelationKind::View && self.looks_into_views() {
            self.require_columns(table, catalog::acl::SELECT, [])?;
            return self.view_rows(table, alias, parent);
        }
        let name = shown_name(alias, &table.name);
        let qualifier = self.qualifier(&name);
        self.note_scan(&qualifier, table);
        let source = (self.context.table_source)(table.clone());
        let has_key = source.schema().field_with_name(KEY_COLUMN).is_ok();
        let plan = LogicalPlanBuilder::scan(qualifier.clone(), source, None)?.build()?;
        let columns: Vec<ScopeColumn> = table
            .live_columns()
            .map(|column| ScopeColumn {
                name: column.name.clone(),
                expr: Expr::Column(Column::new(Some(qualifier.clone()), &column.name)),
                ty: column.ty,
                table_oid: table.oid,
                attnum: column.id,
                reading: None,
            })
            .collect();
        let mut columns = self.seen_columns(table.oid, columns);
        rename(&name, &mut columns, alias)?;
        let mut relation = ScopeRelation {
            present: None,
            scalar: false,
            name,
            schema: alias.is_none().then(|| table.schema.clone()),
            columns,
            table: Some(table.clone()),
            row_of: table.oid,
            key: has_key.then(|| Column::new(Some(qualifier), KEY_COLUMN)),
            keys: Vec::new(),
            unlockable: None,
            reading: None,
        };
        self.require_read(table, &mut relation)?;
        Ok(Source::of(plan, relation, parent))
    }

    /// A sequence read as a table, which has one row.
    fn sequence_row<'p>(
        &self,
        sequence: &Arc<TableDescriptor>,
        alias: Option<&ast::Alias>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let path = self.context.settings.search_path();
        let Some(states) = self.context.catalog.relation(Some("percosql"), "sequences", path) else {
            return Err(SqlError::internal("the view of sequences is missing"));
        };
        let states = self.scan(&states, None, None)?;
        let mut columns = states.scope.visible;
        let oid = Expr::Literal(Datum::Int64(Some(i64::from(sequence.oid))), None);
        let filter = columns.remove(0).expr.eq(oid);
        for column in &mut columns {
            column.table_oid = sequence.oid;
        }
        let plan = LogicalPlanBuilder::from(states.plan).filter(filter)?.build()?;
        let bound = self.all_columns(plan, columns)?;
        let mut source = self.derived(bound, &sequence.name, alias, parent)?;
        if alias.is_none()
            && let Some(relation) = source.scope.relations.first_mut()
        {
            relation.schema = Some(sequence.schema.clone());
        }
        Ok(source)
    }

    /// The rows of a subquery in FROM.
    pub fn derived<'p>(
        &self,
        bound: BoundQuery,
        name: &str,
        alias: Option<&ast::Alias>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let name = shown_name(alias, name);
        let mut columns = bound.columns;
        let keys = self.strip_hidden(&mut columns);
        rename(&name, &mut columns, alias)?;
        let relation = ScopeRelation { keys, ..ScopeRelation::of_columns(name, columns) };
        Ok(Source::of(super::volatile::with_kept_columns(bound.plan)?, relation, parent))
    }

    /// Joins the rows of a function to those of `input`, of which `carried` columns are kept.
    pub fn function_rows<'p>(
        &self,
        input: LogicalPlan,
        carried: Vec<Expr>,
        function: &TableFunction<'_>,
        bound: BoundFunction,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let shown = shown_name(function.alias, &function.name);
        let made = |name: &str, expr, ty| ScopeColumn {
            name: name.to_string(),
            expr,
            ty,
            table_oid: 0,
            attnum: 0,
            reading: None,
        };
        let mut exprs = carried;
        let (plan, mut columns) = match bound {
            BoundFunction::Value(typed) => {
                let typed = self.settle(typed)?;
                let name = self.unique("f");
                exprs.push(typed.expr.alias(&name));
                let mut columns = vec![made(&shown, column(&name), typed.ty)];
                if function.ordinality {
                    let name = self.unique("f");
                    exprs.push(Expr::Literal(Datum::Int64(Some(1)), None).alias(&name));
                    columns.push(made("ordinality", column(&name), SqlType::INT8));
                }
                (LogicalPlanBuilder::from(input).project(exprs)?.build()?, columns)
            }
            BoundFunction::Rows(RowSource::Lists(lists, names)) => {
                let (plan, items) = self.lists_beside(input, exprs, lists, function)?;
                let count = items.len();
                let several = count > 1 + usize::from(function.ordinality);
                let columns = items.into_iter().enumerate().map(|(at, item)| {
                    let name = match (function.ordinality && at + 1 == count, names.get(at)) {
                        (true, _) => "ordinality",
                        (false, Some(name)) if !name.is_empty() => name,
                        (false, _) if several => &function.name,
                        (false, _) => &shown,
                    };
                    made(name, item.expr, item.ty)
                });
                let columns = columns.collect();
                (plan, columns)
            }
            BoundFunction::Rows(RowSource::Records(lists, named)) => {
                let (plan, items) = self.lists_beside(input, exprs, lists, function)?;
                let mut columns = Vec::new();
                for (at, item) in items.into_iter().enumerate() {
                    columns.push(match named.get(at) {
                        Some((name, ty)) => made(name, self.resolver.cast(item, *ty, CastContext::Explicit)?.expr, *ty),
                        None => made("ordinality", item.expr, item.ty),
                    });
                }
                (plan, columns)
            }
            BoundFunction::Rows(source) if function.ordinality || function.outer => {
                let ty = source.element_type();
                let (plan, items) = self.lists_beside(input, exprs, vec![source.as_list()], function)?;
                let mut items = items.into_iter();
                let item = items.next().ok_or_else(|| SqlError::internal("rows without a column"))?;
                let value = self.resolver.cast(item, ty, CastContext::Explicit)?;
                let mut columns = vec![made(&shown, value.expr, ty)];
                columns.extend(items.map(|number| made("ordinality", number.expr, number.ty)));
                (plan, columns)
            }
            BoundFunction::Rows(source) => {
                let ty = source.element_type();
                let name = self.unique("f");
                let plan = self.rows_beside(input, exprs, &name, source)?;
                let expr = self.row_item(&plan, &name, ty)?;
                (plan, vec![made(&shown, expr, ty)])
            }
        };
        rename(&shown, &mut columns, function.alias)?;
        let function_scalar = columns.len() == 1 && RecordSource::named(&function.name).is_none();
        let relation = ScopeRelation {
            scalar: function_scalar,
            unlockable: Some("a function"),
            ..ScopeRelation::of_columns(shown, columns)
        };
        Ok(Source::of(plan, relation, parent))
    }
}

/// The first item of a chain of joins, and the joins behind it. Other items stand alone, and so does a join with an
/// alias.
pub fn parts(item: &FromItem) -> (&FromItem, Vec<&ast::Join>) {
    match item {
        FromItem::Join(join) if join.alias.is_none() => chain(join),
        other => (other, Vec::new()),
    }
}

/// The same for a join, whose own alias does not count.
fn chain(join: &ast::Join) -> (&FromItem, Vec<&ast::Join>) {
    let mut joins = vec![join];
    let mut first = &join.left;
    while let FromItem::Join(join) = first
        && join.alias.is_none()
    {
        joins.push(join);
        first = &join.left;
    }
    joins.reverse();
    (first, joins)
}

/// Whether an item of FROM may see the items on its left.
pub fn is_lateral(item: &FromItem) -> bool {
    let mut item = item;
    loop {
        match item {
            FromItem::Table { .. } => return false,
            FromItem::Query { lateral, .. } => return *lateral,
            FromItem::Function { .. } => return as_view(item).is_none(),
            FromItem::Join(join) => {
                if syntax::deeper(|| is_lateral(&join.right)) {
                    return true;
                }
                item = &join.left;
            }
        }
    }
}

/// Whether a join may have rows without a left row.
fn adds_to_the_left(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Right | JoinKind::Full)
}

/// The name of an item of FROM: that of its alias, or else its own.
pub fn shown_name(alias: Option<&ast::Alias>, own: &str) -> String {
    let name = alias.and_then(|alias| alias.name.as_ref());
    name.map_or(own, |name| name.value.as_str()).to_string()
}

/// The name of a query in FROM. The parser refuses one without an alias.
pub fn query_name(alias: Option<&ast::Alias>) -> Result<String> {
    let name = alias.and_then(|alias| alias.name.as_ref());
    name.map(|name| name.value.clone()).ok_or_else(|| SqlError::internal("a query in FROM without an alias"))
}

/// Renames columns by an alias's column list.
pub fn rename(relation: &str, columns: &mut [ScopeColumn], alias: Option<&ast::Alias>) -> Result<()> {
    let Some(alias) = alias else { return Ok(()) };
    let defined = alias.definitions.iter().map(|column| &column.name);
    let names: Vec<&ast::Ident> = alias.columns.iter().chain(defined).collect();
    rename_to(relation, columns, &names)
}

/// Renames the first columns. Errors: 42P10 for more names than columns.
pub fn rename_to(relation: &str, columns: &mut [ScopeColumn], names: &[&ast::Ident]) -> Result<()> {
    if names.len() > columns.len() {
        let message = format!(
            "table \"{relation}\" has {} columns available but {} columns specified",
            columns.len(),
            names.len()
        );
        return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(&name.value);
    }
    Ok(())
}
