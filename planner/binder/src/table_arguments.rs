//! Functions in FROM: what is called, and the binding of the call.

use super::binder::Binder;
use super::call::is_output;
use super::column_name::column_name;
use super::expression::Env;
use super::row_function::{RowSource, is_row_function};
use super::view_function::as_view;
use functions::json::{RecordSource, record_lists};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, ExprKind, FromItem};
use syntax::{Span, fold_name};
use types::SqlType;

/// A function of a FROM clause.
pub struct TableFunction<'t> {
    /// The name of its rows without an alias, in folded case.
    pub name: String,
    /// What is called.
    pub called: Called<'t>,
    /// The columns of its rows, if they are written for it.
    pub definitions: &'t [ast::ColumnDefinition],
    /// The place of the call.
    pub place: Span,
    /// The alias of its rows, if any.
    pub alias: Option<&'t ast::Alias>,
    /// Whether it has WITH ORDINALITY.
    pub ordinality: bool,
    /// LEFT JOIN: whether outer rows without function rows are kept.
    pub outer: bool,
}

/// What a function of a FROM clause calls.
pub enum Called<'t> {
    /// A function by its name: the schema in folded case, if one is named, and the call.
    Function(Option<String>, &'t ast::Call),
    /// An expression with a value: a call with a grammar of its own.
    Value(&'t ast::Expr),
    /// ROWS FROM several functions.
    Several(Vec<TableFunction<'t>>),
}

/// A bound function of a FROM clause.
pub enum BoundFunction {
    /// A set-returning function with any number of rows.
    Rows(RowSource),
    /// A scalar function, whose value is one row.
    Value(TypedExpr),
}

/// The function that an item of FROM calls. `None` for other items. Errors: 42601.
pub fn table_function(item: &FromItem) -> Result<Option<TableFunction<'_>>> {
    let FromItem::Function { lateral: _, rows_from: _, functions, ordinality, alias, span } = item else {
        return Ok(None);
    };
    if as_view(item).is_some() {
        return Ok(None);
    }
    let mut parts = functions.iter().map(one_function).collect::<Result<Vec<_>>>()?;
    let mut function = match (parts.pop(), parts.first().map(|first| first.name.clone())) {
        (Some(only), None) => only,
        (last, name) => {
            parts.extend(last);
            let (name, called) = (name.unwrap_or_default(), Called::Several(parts));
            TableFunction { name, called, definitions: &[], place: *span, alias: None, ordinality: false, outer: false }
        }
    };
    function.alias = alias.as_ref();
    function.ordinality = *ordinality;
    if let Some(alias) = function.alias.filter(|alias| !alias.definitions.is_empty()) {
        function.definitions = &alias.definitions;
    }
    Ok(Some(function))
}

/// A single function, with the columns that ROWS FROM gives it.
fn one_function(function: &ast::RowsFunction) -> Result<TableFunction<'_>> {
    let ast::RowsFunction { call: written, definitions } = function;
    let (name, called) = match &written.kind {
        // Other calls are errors, which those of values report.
        ExprKind::Call(call) if !call.star && !call.distinct && !call.variadic && call.order_by.is_empty() => {
            let (schema, name) = fold_name(&call.name)?;
            (name, Called::Function(schema, call))
        }
        // The name that the expression would have in a select list.
        _ => (column_name(written), Called::Value(written)),
    };
    Ok(TableFunction { name, called, definitions, place: written.span, alias: None, ordinality: false, outer: false })
}

impl Binder<'_> {
    /// Binds a function in FROM and its arguments.
    pub fn table_function(&self, function: &TableFunction<'_>, env: Env<'_>) -> Result<BoundFunction> {
        self.bound_function(function, env).map_err(|error| self.at(error, function.place))
    }

    fn bound_function(&self, function: &TableFunction<'_>, env: Env<'_>) -> Result<BoundFunction> {
        if function.ordinality && function.alias.is_some_and(|alias| !alias.definitions.is_empty()) {
            let message = "WITH ORDINALITY cannot be used with a column definition list";
            let error = SqlError::syntax(message).hint("Put the column definition list inside ROWS FROM().");
            return Err(self.at_definitions(error, function));
        }
        match &function.called {
            Called::Function(schema, call) => self.called_in_from(function, schema.as_deref(), call, env),
            Called::Value(value) => {
                self.no_definitions(function)?;
                Ok(BoundFunction::Value(self.expr(value, env)?))
            }
            Called::Several(functions) => {
                if !function.definitions.is_empty() {
                    let message = "ROWS FROM() with multiple functions cannot have a column definition list";
                    let hint = "Put a separate column definition list for each function inside ROWS FROM().";
                    return Err(self.at_definitions(SqlError::syntax(message).hint(hint), function));
                }
                self.rows_from(functions, env)
            }
        }
    }

    /// Binds the call of a function by its name.
    fn called_in_from(
        &self,
        function: &TableFunction<'_>,
        schema: Option<&str>,
        call: &ast::Call,
        env: Env<'_>,
    ) -> Result<BoundFunction> {
        let name = function.name.as_str();
        let (mut args, mut named): (Vec<TypedExpr>, Vec<(String, TypedExpr)>) = (Vec::new(), Vec::new());
        for argument in &call.arguments {
            let value = &argument.value;
            match &argument.name {
                None if !named.is_empty() => {
                    let message = "positional argument cannot follow named argument";
                    return Err(self.at(SqlError::syntax(message), value.span));
                }
                None => args.push(self.expr(value, env)?),
                Some(known) if named.iter().any(|(other, _)| *other == known.value) => {
                    let message = format!("argument name \"{}\" used more than once", known.value);
                    return Err(self.at(SqlError::syntax(message), known.span));
                }
                Some(known) => named.push((known.value.clone(), self.expr(value, env)?)),
            }
        }
        args.retain(|arg| !is_output(arg));
        if !named.is_empty() {
            named.retain(|(_, arg)| !is_output(arg));
            args = self.in_places(name, args, named)?.0;
        }
        if let Some(schema) = schema.filter(|schema| !matches!(*schema, "pg_catalog" | "information_schema")) {
            return Err(match self.context.catalog.schema(schema) {
                Some(_) => self.resolver.no_function(&format!("{schema}.{name}"), &args),
                None => catalog::no_schema(schema),
            });
        }
        if let Some(source) = RecordSource::named(name) {
            let columns = self.record_columns(function, source, args.first())?;
            let lists = record_lists(&self.resolver, name, source, args, &columns)?;
            return Ok(BoundFunction::Rows(RowSource::Records(lists, columns)));
        }
        self.no_definitions(function)?;
        if is_row_function(name) {
            return Ok(BoundFunction::Rows(self.row_source(name, args)?));
        }
        if self.resolver.is_listed_rows(name) {
            let rows = self.resolver.listed_rows(name, args)?.into_iter();
            let (names, lists) = rows.map(|(name, list)| (name.to_string(), list)).unzip();
            return Ok(BoundFunction::Rows(RowSource::Lists(lists, names)));
        }
        Ok(BoundFunction::Value(self.resolver.function(name, args)?))
    }

    /// Rejects columns for a function that does not return records. Errors: 42601.
    fn no_definitions(&self, function: &TableFunction<'_>) -> Result<()> {
        if function.definitions.is_empty() {
            return Ok(());
        }
        let message = "a column definition list is only allowed for functions returning \"record\"";
        Err(self.at_definitions(SqlError::syntax(message), function))
    }

    /// Adds the position of the columns that are written for a function.
    fn at_definitions(&self, error: SqlError, function: &TableFunction<'_>) -> SqlError {
        let first = function.definitions.first().map(|column| column.name.span);
        self.at(error, first.unwrap_or(Span::NONE))
    }

    /// The columns of a function that returns records: those that are written for it, or those of its row argument.
    fn record_columns(
        &self,
        function: &TableFunction<'_>,
        source: RecordSource,
        base: Option<&TypedExpr>,
    ) -> Result<Vec<(String, SqlType)>> {
        let known = base.filter(|_| source.populate).and_then(|base| base.ty.as_record()).filter(|row| !row.is_any());
        if let Some(known) = known {
            return Ok(known.fields().to_vec());
        }
        if source.populate && base.is_some_and(|base| base.ty.as_record().is_none()) {
            let message = format!("first argument of {} must be a row type", function.name);
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        if function.definitions.is_empty() {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(SqlError::syntax(message));
        }
        let column = |column: &ast::ColumnDefinition| -> Result<(String, SqlType)> {
            let ty = self.type_of(&column.data_type).map_err(|error| self.at(error, column.data_type.span))?;
            if let Some(collation) = &column.collation {
                super::check_collatable(ty).map_err(|error| self.at(error, collation.span))?;
                super::collation_named(collation).map_err(|error| self.at(error, collation.span))?;
            }
            Ok((column.name.value.clone(), ty))
        };
        function.definitions.iter().map(column).collect()
    }

    /// ROWS FROM: binds functions that run in lockstep.
    fn rows_from(&self, functions: &[TableFunction<'_>], env: Env<'_>) -> Result<BoundFunction> {
        let (mut lists, mut names) = (Vec::new(), Vec::new());
        for function in functions {
            let bound = self.table_function(function, env)?;
            let several = matches!(&bound, BoundFunction::Rows(RowSource::Lists(lists, _)) if lists.len() > 1);
            match bound {
                BoundFunction::Value(typed) => {
                    let typed = self.settle(typed)?;
                    lists.push(self.resolver.array(vec![typed])?);
                    names.push(function.name.clone());
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
                    names.push(function.name.clone());
                }
            }
        }
        Ok(BoundFunction::Rows(RowSource::Lists(lists, names)))
    }
}
