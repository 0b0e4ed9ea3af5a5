//! FROM: tables, subqueries, functions, each with its alias. Joins are in `join`, LATERAL is in `lateral`.

use super::KEY_COLUMN;
use super::binder::{Binder, column, span_of};
use super::call::is_output;
use super::clauses::check_alias;
use super::expression::{Clause, Env};
use super::query::BoundQuery;
use super::row_function::RowSource;
use super::scope::{Before, Scope, ScopeColumn, ScopeRelation};
use super::table_arguments::{table_arguments, table_function};
use super::view_function::as_view;
use catalog::{RelationKind, TableDescriptor};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::json::{RecordSource, record_lists};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, Spanned, TableFactor};
use sqlparser::tokenizer::Span;
use std::sync::Arc;
use syntax::{ROWS_FROM, VALUE_IN_FROM, fold, fold_name, fold_plain};
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

/// A function of a FROM clause.
pub struct TableFunction<'t> {
    /// Schema in folded case, if one is named.
    pub schema: Option<String>,
    /// Name in folded case.
    pub name: String,
    /// Arguments given by position.
    pub args: Vec<&'t ast::Expr>,
    /// Arguments behind them that are given by name.
    pub named: Vec<(String, &'t ast::Expr)>,
    /// Span of the function's name.
    pub place: Span,
    /// The alias of its rows, if any.
    pub alias: Option<&'t ast::TableAlias>,
    /// Whether it has WITH ORDINALITY.
    pub ordinality: bool,
    /// LEFT JOIN: whether outer rows without function rows are kept.
    pub outer: bool,
}

/// A bound function of a FROM clause.
pub enum BoundFunction {
    /// A set-returning function with any number of rows.
    Rows(RowSource),
    /// A scalar function, whose value is one row.
    Value(TypedExpr),
}

impl Binder<'_> {
    /// Binds a whole FROM clause. An empty clause gives one row without columns.
    pub fn from<'p>(&self, from: &[ast::TableWithJoins], parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        let mut whole: Option<Source<'p>> = None;
        for item in from {
            let lateral = is_lateral(&item.relation) || item.joins.iter().any(|join| is_lateral(&join.relation));
            let mut source = match whole.take() {
                // The join's additional rows belong to each row before the comma.
                Some(left) if lateral && item.joins.iter().any(|join| adds_to_the_left(&join.join_operator)) => {
                    let joined = TableFactor::NestedJoin { table_with_joins: Box::new(item.clone()), alias: None };
                    whole = Some(self.lateral(left, &joined, parent)?);
                    continue;
                }
                Some(left) if lateral => {
                    let before = left.scope.whole();
                    let mut source = self.comma(left, &item.relation, parent)?;
                    source.scope.before = before;
                    source
                }
                Some(left) if item.joins.is_empty() => self.comma(left, &item.relation, parent)?,
                left => {
                    let before = left.as_ref().map_or(&[][..], |left| &left.scope.relations);
                    let source = self.beside(before, || {
                        let mut source = self.factor(&item.relation, parent)?;
                        for join in &item.joins {
                            source = self.join(source, join, parent)?;
                        }
                        Result::Ok(source)
                    })?;
                    whole = Some(match left {
                        Some(left) => self.cross(left, source)?,
                        None => source,
                    });
                    continue;
                }
            };
            for join in &item.joins {
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

    fn comma<'p>(&self, left: Source<'p>, factor: &TableFactor, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        if is_lateral(factor) {
            return self.lateral(left, factor, parent);
        }
        let right = self.beside(&left.scope.relations, || self.factor(factor, parent))?;
        self.cross(left, right)
    }

    /// Binds an item of FROM that cannot see the items to its left.
    pub fn factor<'p>(&self, factor: &TableFactor, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        if let Some(view) = as_view(factor) {
            return self.factor(&view, parent);
        }
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                check_alias(alias.as_ref())?;
                if let [ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice()
                    && ident.quote_style.is_none()
                    && let Some(value) = self.niladic(&fold(ident))?
                {
                    let alias = alias.as_ref();
                    let function = TableFunction {
                        schema: None,
                        name: fold(ident),
                        args: Vec::new(),
                        named: Vec::new(),
                        place: ident.span,
                        alias,
                        ordinality: false,
                        outer: false,
                    };
                    let plan = LogicalPlanBuilder::empty(true).build()?;
                    return self.function_rows(plan, Vec::new(), &function, BoundFunction::Value(value), parent);
                }
                if let [ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice()
                    && let Some(query) = self.common_table(&fold(ident)).map_err(|error| self.at(error, ident.span))?
                {
                    if sample.is_some() {
                        return Err(self.at(super::sample::no_table(), ident.span));
                    }
                    let mut source = self.derived(query, &fold(ident), alias.as_ref(), parent)?;
                    for relation in &mut source.scope.relations {
                        relation.unlockable = Some("a WITH query");
                    }
                    return Ok(source);
                }
                let table = self.table(name)?;
                let mut source = self.scan(&table, alias.as_ref(), parent)?;
                if let Some(sample) = sample {
                    source = self.sampled(source, sample, span_of(name))?;
                }
                if alias.is_none()
                    && let Some(relation) = source.scope.relations.first_mut()
                {
                    // A view names a relation as it was called when the view was made.
                    relation.name = fold_name(name)?.1;
                }
                Ok(source)
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample: None } => {
                // A reserved word is an alias only behind AS, and then an error.
                let named = |alias: &&ast::TableAlias| alias.explicit || fold_plain(&alias.name).is_ok();
                let Some(alias) = alias.as_ref().filter(named) else {
                    return Err(self.without_alias(subquery));
                };
                check_alias(Some(alias))?;
                self.push_into(&fold(&alias.name));
                let bound = self.query(subquery, parent)?;
                self.derived(bound, &fold(&alias.name), Some(alias), parent)
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.from(std::slice::from_ref(table_with_joins), parent)
            }
            TableFactor::NestedJoin { table_with_joins, alias: Some(alias) } => {
                check_alias(Some(alias))?;
                let source = self.from(std::slice::from_ref(table_with_joins), parent)?;
                self.hide(&source.scope.relations);
                let name = fold(&alias.name);
                let mut columns = source.scope.visible;
                rename(&name, &mut columns, Some(alias))?;
                let unlockable = Some("a join");
                let relation = ScopeRelation { unlockable, ..ScopeRelation::of_columns(name, columns) };
                Ok(Source::of(source.plan, relation, parent))
            }
            other => match table_function(other)? {
                Some(function) => {
                    let scope = Scope::empty(parent);
                    let bound = self.table_function(&function, Env::new(&scope, Clause::FromFunction))?;
                    let plan = LogicalPlanBuilder::empty(true).build()?;
                    self.function_rows(plan, Vec::new(), &function, bound, parent)
                }
                None => Err(SqlError::unsupported(format!("the FROM item {other}"))),
            },
        }
    }

    /// The rows of a table.
    pub fn scan<'p>(
        &self,
        table: &Arc<TableDescriptor>,
        alias: Option<&ast::TableAlias>,
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
        let name = alias.map_or_else(|| table.name.clone(), |alias| fold(&alias.name));
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
        alias: Option<&ast::TableAlias>,
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

    /// The error 42601 for a subquery in FROM without an alias.
    pub fn without_alias(&self, subquery: &ast::Query) -> SqlError {
        let (what, example) = match subquery.body.as_ref() {
            ast::SetExpr::Values(_) => ("VALUES", "VALUES"),
            _ => ("subquery", "SELECT"),
        };
        let error = SqlError::syntax(format!("{what} in FROM must have an alias"));
        self.at_bracket(error.hint(format!("For example, FROM ({example} ...) [AS] foo.")), subquery.span())
    }

    /// The rows of a subquery in FROM.
    pub fn derived<'p>(
        &self,
        bound: BoundQuery,
        name: &str,
        alias: Option<&ast::TableAlias>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let name = alias.map_or_else(|| name.to_string(), |alias| fold(&alias.name));
        let mut columns = bound.columns;
        let keys = self.strip_hidden(&mut columns);
        rename(&name, &mut columns, alias)?;
        let relation = ScopeRelation { keys, ..ScopeRelation::of_columns(name, columns) };
        Ok(Source::of(super::volatile::with_kept_columns(bound.plan)?, relation, parent))
    }

    /// Binds a function in FROM and its arguments.
    pub fn table_function(&self, function: &TableFunction<'_>, env: Env<'_>) -> Result<BoundFunction> {
        self.bound_function(function, env).map_err(|error| self.at(error, function.place))
    }

    fn bound_function(&self, function: &TableFunction<'_>, env: Env<'_>) -> Result<BoundFunction> {
        if function.name == ROWS_FROM {
            return self.rows_from(&function.args, env);
        }
        let mut args: Vec<TypedExpr> = function.args.iter().map(|arg| self.expr(arg, env)).collect::<Result<_>>()?;
        if let (Some(VALUE_IN_FROM), [value]) = (function.schema.as_deref(), args.as_slice()) {
            return Ok(BoundFunction::Value(value.clone()));
        }
        args.retain(|arg| !is_output(arg));
        if !function.named.is_empty() {
            let named = function.named.iter().map(|(name, arg)| Ok((name.clone(), self.expr(arg, env)?)));
            let mut named = named.collect::<Result<Vec<_>>>()?;
            named.retain(|(_, arg)| !is_output(arg));
            args = self.in_places(&function.name, args, named)?.0;
        }
        if let Some(schema) =
            function.schema.as_deref().filter(|schema| !matches!(*schema, "pg_catalog" | "information_schema"))
        {
            return Err(match self.context.catalog.schema(schema) {
                Some(_) => self.resolver.no_function(&format!("{schema}.{}", function.name), &args),
                None => catalog::no_schema(schema),
            });
        }
        let defined = function.alias.is_some_and(|alias| alias.columns.iter().any(|column| column.data_type.is_some()));
        if let Some(source) = RecordSource::named(&function.name) {
            let columns = self.record_columns(function, source, args.first())?;
            let lists = record_lists(&self.resolver, &function.name, source, args, &columns)?;
            return Ok(BoundFunction::Rows(RowSource::Records(lists, columns)));
        }
        if defined {
            let message = "a column definition list is only allowed for functions returning \"record\"";
            let first = function.alias.and_then(|alias| alias.columns.first()).map(|column| column.name.span);
            return Err(self.at(SqlError::syntax(message), first.unwrap_or_else(Span::empty)));
        }
        match function.name.as_str() {
            name if super::row_function::is_row_function(name) => {
                Ok(BoundFunction::Rows(self.row_source(&function.name, args)?))
            }
            name if self.resolver.is_listed_rows(name) => {
                let rows = self.resolver.listed_rows(name, args)?.into_iter();
                let (names, lists) = rows.map(|(name, list)| (name.to_string(), list)).unzip();
                Ok(BoundFunction::Rows(RowSource::Lists(lists, names)))
            }
            name @ ("coalesce" | "nullif" | "greatest" | "least") => match self.conditional(name, args)? {
                Some(typed) => Ok(BoundFunction::Value(typed)),
                None => Err(SqlError::internal("a conditional that is none")),
            },
            name => Ok(BoundFunction::Value(self.resolver.function(name, args)?)),
        }
    }

    /// The columns of a function that returns records: those of the alias, or of its row argument.
    fn record_columns(
        &self,
        function: &TableFunction<'_>,
        source: RecordSource,
        base: Option<&TypedExpr>,
    ) -> Result<Vec<(String, SqlType)>> {
        let defined = function.alias.map_or(&[][..], |alias| alias.columns.as_slice());
        let known = base.filter(|_| source.populate).and_then(|base| base.ty.as_record()).filter(|row| !row.is_any());
        if let Some(known) = known {
            return Ok(known.fields().to_vec());
        }
        if source.populate && base.is_some_and(|base| base.ty.as_record().is_none()) {
            let message = format!("first argument of {} must be a row type", function.name);
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        if defined.is_empty() || defined.iter().any(|column| column.data_type.is_none()) {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(SqlError::syntax(message));
        }
        let column = |column: &ast::TableAliasColumnDef| match &column.data_type {
            Some(ty) => Ok((fold(&column.name), self.type_of(ty)?)),
            None => Err(SqlError::internal("a column without a type")),
        };
        defined.iter().map(column).collect()
    }

    /// ROWS FROM: binds functions that run in lockstep.
    fn rows_from(&self, calls: &[&ast::Expr], env: Env<'_>) -> Result<BoundFunction> {
        let (mut lists, mut names) = (Vec::new(), Vec::new());
        for call in calls {
            let ast::Expr::Function(ast::Function { name, args: ast::FunctionArguments::List(list), .. }) = call else {
                return Err(SqlError::unsupported(format!("{call} in ROWS FROM")));
            };
            let place = span_of(name);
            let (schema, name) = fold_name(name)?;
            let (args, named) = table_arguments(&list.args)?;
            let function =
                TableFunction { schema, name, args, named, place, alias: None, ordinality: false, outer: false };
            let bound = self.table_function(&function, env)?;
            let several = matches!(&bound, BoundFunction::Rows(RowSource::Lists(lists, _)) if lists.len() > 1);
            match bound {
                BoundFunction::Value(typed) => {
                    let typed = self.settle(typed)?;
                    lists.push(self.resolver.array(vec![typed])?);
                    names.push(function.name);
                }
                BoundFunction::Rows(RowSource::Lists(some, named)) => {
                    for (at, list) in some.into_iter().enumerate() {
                        let named = named.get(at).filter(|name| several && !name.is_empty());
                        names.push(named.cloned().unwrap_or_else(|| function.name.clone()));
                        lists.push(list);
                    }
                }
                BoundFunction::Rows(RowSource::Texts(..) | RowSource::Records(..)) => {
                    return Err(SqlError::unsupported(format!("{} in ROWS FROM", function.name)));
                }
                BoundFunction::Rows(source) => {
                    let ty = source.element_type().array_of();
                    lists.push(self.resolver.cast(source.as_list(), ty, CastContext::Explicit)?);
                    names.push(function.name);
                }
            }
        }
        Ok(BoundFunction::Rows(RowSource::Lists(lists, names)))
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
        let shown = function.alias.map_or_else(|| function.name.clone(), |alias| fold(&alias.name));
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

/// Whether an item of FROM may see the items on its left.
pub fn is_lateral(factor: &TableFactor) -> bool {
    let function = match factor {
        TableFactor::Derived { lateral: true, .. }
        | TableFactor::Function { .. }
        | TableFactor::UNNEST { .. }
        | TableFactor::TableFunction { .. }
        | TableFactor::Table { args: Some(_), .. } => true,
        TableFactor::NestedJoin { table_with_joins, .. } => {
            let joined = table_with_joins.joins.iter().map(|join| &join.relation);
            std::iter::once(&table_with_joins.relation).chain(joined).any(is_lateral)
        }
        _ => false,
    };
    function && as_view(factor).is_none()
}

/// Whether a join may have rows without a left row.
fn adds_to_the_left(join: &ast::JoinOperator) -> bool {
    use ast::JoinOperator as J;
    matches!(join, J::Right(_) | J::RightOuter(_) | J::FullOuter(_))
}

/// Renames columns by an alias's column list.
pub fn rename(relation: &str, columns: &mut [ScopeColumn], alias: Option<&ast::TableAlias>) -> Result<()> {
    let Some(alias) = alias else { return Ok(()) };
    if alias.columns.len() > columns.len() {
        let message = format!(
            "table \"{relation}\" has {} columns available but {} columns specified",
            columns.len(),
            alias.columns.len()
        );
        return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
    }
    for (column, name) in columns.iter_mut().zip(&alias.columns) {
        column.name = fold_plain(&name.name)?;
    }
    Ok(())
}
