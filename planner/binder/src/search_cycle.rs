//! SEARCH and CYCLE of recursive WITH queries. Like PostgreSQL's rewriter, this adds columns that both terms carry.

use super::binder::Binder;
use super::scope::Scope;
use super::with::Item;
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, Expr, SelectItem, SetExpr, TableFactor, VisitMut, VisitorMut};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;
use syntax::{StatementKind, fold};

/// The carried columns: names, initial values and values of each round.
#[derive(Default)]
struct Carried {
    names: Vec<String>,
    first: Vec<String>,
    step: Vec<String>,
    /// The condition for continuing from a row of the last round: the mark's column and the value that it must not
    /// have.
    ended: Option<(String, Expr)>,
    /// The mark's values in a cycle and elsewhere. [`VALUES`] stand for them in the text.
    values: Vec<Expr>,
}

/// Placeholder names for the two values of a mark.
const VALUES: [&str; 2] = ["\u{1}to", "\u{1}default"];

/// Whether a term of a UNION is another set operation.
fn is_set_operation(term: &SetExpr) -> bool {
    match term {
        SetExpr::SetOperation { .. } => true,
        SetExpr::Query(query) => {
            let alone = query.order_by.is_none()
                && query.limit_clause.is_none()
                && query.fetch.is_none()
                && query.locks.is_empty()
                && query.with.is_none();
            alone && is_set_operation(&query.body)
        }
        _ => false,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The name of a carried column of the last round in the recursive term.
fn hidden(place: usize) -> String {
    quoted(&format!("\u{1}carried {place}"))
}

impl Binder<'_> {
    /// Adds the columns of SEARCH and CYCLE clauses to a query.
    pub(super) fn search_and_cycle(&self, item: &Item<'_>, name: &str, parent: Option<&Scope<'_>>) -> Result<ast::Cte> {
        let mut table = item.table.clone();
        let SetExpr::SetOperation { left, right, .. } = table.query.body.as_mut() else { return Ok(table) };
        let sides =
            [("left", left.as_ref(), state::FEATURE_NOT_SUPPORTED), ("right", right.as_ref(), state::SYNTAX_ERROR)];
        for (side, term, code) in sides {
            if is_set_operation(term) {
                let message = format!("with a SEARCH or CYCLE clause, the {side} side of the UNION must be a SELECT");
                return Err(SqlError::new(code, message));
            }
        }
        let mut names: Vec<String> =
            self.set_expr(left, parent)?.columns.into_iter().map(|column| column.name).collect();
        for (name, alias) in names.iter_mut().zip(&table.alias.columns) {
            *name = fold(&alias.name);
        }
        let carried = carried(item, &names).map_err(|(error, place)| self.at(error, place))?;
        let own: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let own = own.join(", ");
        **left = around(
            &format!("SELECT {own}, {} FROM (SELECT 1) AS \"\u{1}first\"({own})", carried.first.join(", ")),
            left.as_ref().clone(),
            &carried.values,
        )?;
        let inner = with_hidden(right, name, &carried)?;
        let before: Vec<String> = (0..carried.names.len()).map(hidden).collect();
        **right = around(
            &format!(
                "SELECT {own}, {} FROM (SELECT 1) AS \"\u{1}step\"({own}, {})",
                carried.step.join(", "),
                before.join(", ")
            ),
            inner,
            &carried.values,
        )?;
        table.alias.columns = names
            .iter()
            .chain(&carried.names)
            .map(|name| ast::TableAliasColumnDef { name: ast::Ident::with_quote('"', name), data_type: None })
            .collect();
        Ok(table)
    }
}

/// The items of a clause, which the parser encodes as a query.
fn clause(table: &ast::Cte) -> Vec<&Expr> {
    let SetExpr::Select(select) = table.query.body.as_ref() else { return Vec::new() };
    let mut exprs = Vec::new();
    for item in &select.projection {
        if let SelectItem::UnnamedExpr(expr) = item {
            exprs.push(expr);
        }
    }
    exprs
}

fn ident(expr: &Expr) -> Result<String> {
    match expr {
        Expr::Identifier(ident) => Ok(fold(ident)),
        other => Err(SqlError::syntax(format!("syntax error at or near \"{other}\""))),
    }
}

/// `ROW(…)` of columns, which must belong to the query.
fn row(columns: &[&Expr], names: &[String], what: &str) -> Result<String> {
    let mut quotes = Vec::new();
    for column in columns {
        let column = ident(column)?;
        if !names.contains(&column) {
            return Err(SqlError::syntax(format!("{what} column \"{column}\" not in WITH query column list")));
        }
        let quoted = quoted(&column);
        if quotes.contains(&quoted) {
            let message = format!("{what} column \"{column}\" specified more than once");
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        quotes.push(quoted);
    }
    Ok(quotes.join(", "))
}

/// The carried columns of both clauses. Errors: the fault of a clause, and the start of that clause.
fn carried(item: &Item<'_>, names: &[String]) -> std::result::Result<Carried, (SqlError, Span)> {
    let mut carried = Carried::default();
    let place = |clause: &ast::Cte| clause.alias.name.span;
    if let Some(search) = item.search {
        carry_search(search, names, &mut carried).map_err(|error| (error, place(search)))?;
    }
    if let Some(cycle) = item.cycle {
        let sequence = carried.names.first().cloned();
        let at_cycle = |error| (error, place(cycle));
        carry_cycle(cycle, names, &mut carried).map_err(at_cycle)?;
        let same = |one: &str, other: &str| {
            SqlError::syntax(format!("{one} column name and {other} column name are the same"))
        };
        let made = carried.names.get(usize::from(sequence.is_some())..).unwrap_or_default();
        let [mark, path] = made else { return Ok(carried) };
        if mark == path {
            return Err(at_cycle(same("cycle mark", "cycle path")));
        }
        if let (Some(sequence), Some(search)) = (&sequence, item.search) {
            for (name, what) in [(mark, "cycle mark"), (path, "cycle path")] {
                if sequence == name {
                    return Err((same("search sequence", what), place(search)));
                }
            }
        }
    }
    Ok(carried)
}

fn carry_search(search: &ast::Cte, names: &[String], carried: &mut Carried) -> Result<()> {
    let items = clause(search);
    let [how, set, columns @ ..] = items.as_slice() else { return Ok(()) };
    let fields = row(columns, names, "search")?;
    let before = hidden(0);
    carried.names.push(new_name(set, names, "search sequence")?);
    if ident(how)? == "depth" {
        carried.first.push(format!("ARRAY[ROW({fields})]"));
        carried.step.push(format!("{before} || ARRAY[ROW({fields})]"));
    } else {
        carried.first.push(format!("ROW(0::bigint, {fields})"));
        carried.step.push(format!("ROW(({before}).f1 + 1, {fields})"));
    }
    Ok(())
}

fn carry_cycle(cycle: &ast::Cte, names: &[String], carried: &mut Carried) -> Result<()> {
    let items = clause(cycle);
    let [mark, path, to, default, columns @ ..] = items.as_slice() else { return Ok(()) };
    let fields = row(columns, names, "cycle")?;
    let before = hidden(carried.names.len() + 1);
    let mark = new_name(mark, names, "cycle mark")?;
    carried.ended = Some((mark.clone(), Expr::clone(to)));
    carried.values = vec![Expr::clone(to), Expr::clone(default)];
    let [to, default] = VALUES.map(quoted);
    carried.names.push(mark);
    // Gives the column the common type of both values.
    carried.first.push(format!("CASE WHEN false THEN {to} ELSE {default} END"));
    carried.step.push(format!("CASE WHEN ROW({fields}) = ANY ({before}) THEN {to} ELSE {default} END"));
    carried.names.push(new_name(path, names, "cycle path")?);
    carried.first.push(format!("ARRAY[ROW({fields})]"));
    carried.step.push(format!("{before} || ARRAY[ROW({fields})]"));
    Ok(())
}

fn new_name(expr: &Expr, names: &[String], what: &str) -> Result<String> {
    let name = ident(expr)?;
    if names.contains(&name) {
        return Err(SqlError::syntax(format!("{what} column name \"{name}\" already used in WITH query column list")));
    }
    Ok(name)
}

/// Removes positions from generated text, and replaces the placeholders by values.
struct Unplaced<'v> {
    values: &'v [Expr],
}

impl VisitorMut for Unplaced<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => match VALUES.iter().zip(self.values).find(|(name, _)| ident.value == **name) {
                Some((_, value)) => *expr = value.clone(),
                None => ident.span = Span::empty(),
            },
            Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(|part| part.span = Span::empty()),
            Expr::Value(value) => value.span = Span::empty(),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Parses a query with one parenthesized FROM item, which is replaced by `body`.
fn around(text: &str, body: SetExpr, values: &[Expr]) -> Result<SetExpr> {
    let mut statements = syntax::parse(text)?;
    let unexpected = || SqlError::internal("a query of one item");
    let StatementKind::Sql(tree) = statements.pop().ok_or_else(unexpected)?.kind else { return Err(unexpected()) };
    let ast::Statement::Query(mut query) = *tree else { return Err(unexpected()) };
    let _ = query.visit(&mut Unplaced { values });
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(unexpected()) };
    match select.from.first_mut().map(|item| &mut item.relation) {
        Some(TableFactor::Derived { subquery, .. }) => *subquery.body = body,
        _ => return Err(unexpected()),
    }
    Ok(*query.body)
}

/// The recursive term with the carried columns of the last round, without rows in which a cycle ended.
fn with_hidden(term: &SetExpr, name: &str, carried: &Carried) -> Result<SetExpr> {
    let refused = || {
        let message = format!(
            "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of its right-hand SELECT"
        );
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
    };
    let select = match term {
        SetExpr::Select(select) => select,
        SetExpr::Query(query) => match query.body.as_ref() {
            SetExpr::Select(select)
                if query.order_by.is_none() && query.limit_clause.is_none() && query.with.is_none() =>
            {
                select
            }
            _ => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    let mut select = select.clone();
    let factors = select
        .from
        .iter()
        .flat_map(|item| std::iter::once(&item.relation).chain(item.joins.iter().map(|join| &join.relation)));
    let own = factors.into_iter().find_map(|factor| match factor {
        TableFactor::Table { name: table, alias, args: None, .. } => match table.0.as_slice() {
            [ast::ObjectNamePart::Identifier(ident)] if fold(ident) == name => {
                Some(alias.as_ref().map_or_else(|| ident.clone(), |alias| alias.name.clone()))
            }
            _ => None,
        },
        _ => None,
    });
    let own = own.ok_or_else(refused)?;
    let column = |name: &str| Expr::CompoundIdentifier(vec![own.clone(), ast::Ident::with_quote('"', name)]);
    for (place, name) in carried.names.iter().enumerate() {
        let alias = ast::Ident::with_quote('"', format!("\u{1}carried {place}"));
        select.projection.push(SelectItem::ExprWithAlias { expr: column(name), alias });
    }
    if let Some((mark, to)) = &carried.ended {
        let to = Box::new(to.clone());
        let goes_on = Expr::BinaryOp { left: Box::new(column(mark)), op: ast::BinaryOperator::NotEq, right: to };
        select.selection = Some(match select.selection.take() {
            Some(condition) => Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(condition))),
                op: ast::BinaryOperator::And,
                right: Box::new(goes_on),
            },
            None => goes_on,
        });
    }
    Ok(SetExpr::Select(select))
}
