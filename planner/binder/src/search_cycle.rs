//! SEARCH and CYCLE of recursive WITH queries. Like PostgreSQL's rewriter, this adds columns that both terms carry.

use super::binder::Binder;
use super::from::parts;
use super::scope::Scope;
use super::with::Terms;
use sql_error::{Result, SqlError, state};
use syntax::Span;
use syntax::ast::{
    self, Expr, ExprKind, FromItem, Ident, Literal, Operator, Query, QueryBody, Select, SetOperation, SetOperator,
    Target,
};

/// The carried columns: names, initial values and values of each round.
struct Carried {
    names: Vec<String>,
    /// The names of the columns of the last round, in the recursive term.
    hidden: [String; 3],
    first: Vec<Expr>,
    step: Vec<Expr>,
    /// The condition for continuing from a row of the last round: the mark's column and the value that it must not
    /// have.
    ended: Option<(String, Expr)>,
}

/// Whether a term of a UNION is another set operation.
fn is_set_operation(term: &QueryBody) -> bool {
    match term {
        QueryBody::Set(_) => true,
        QueryBody::Nested(query) => is_alone(query) && query.locks.is_empty() && is_set_operation(&query.body),
        _ => false,
    }
}

/// Whether a query has neither WITH nor clauses that order or count its rows.
fn is_alone(query: &Query) -> bool {
    query.with.is_none() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none()
}

impl Binder<'_> {
    /// Adds the columns of SEARCH and CYCLE clauses to a query of WITH, whose terms are given.
    pub(super) fn search_and_cycle(
        &self,
        table: &ast::CommonTable,
        terms: &Terms<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<ast::CommonTable> {
        let sides =
            [("left", &*terms.first, state::FEATURE_NOT_SUPPORTED), ("right", terms.repeated, state::SYNTAX_ERROR)];
        for (side, term, code) in sides {
            if is_set_operation(term) {
                let message = format!("with a SEARCH or CYCLE clause, the {side} side of the UNION must be a SELECT");
                return Err(SqlError::new(code, message));
            }
        }
        let depth = self.enter_with_of_terms(table, parent)?;
        let first = self.set_expr(&terms.first, parent);
        self.leave_with(depth);
        let mut names: Vec<String> = first?.columns.into_iter().map(|column| column.name).collect();
        for (name, given) in names.iter_mut().zip(&table.columns) {
            name.clone_from(&given.value);
        }
        let hidden = [(); 3].map(|()| self.unique("carried"));
        let mut carried = Carried { names: Vec::new(), hidden, first: Vec::new(), step: Vec::new(), ended: None };
        carry(table, &names, &mut carried).map_err(|(error, place)| self.at(error, place))?;
        let before = carried.hidden.iter().take(carried.names.len());
        let within: Vec<&String> = names.iter().chain(before).collect();
        let inner = with_hidden(terms.repeated, &table.name.value, &carried)?;
        let own: Vec<&String> = names.iter().collect();
        let left = self.around(QueryBody::clone(&terms.first), &names, &own, carried.first);
        let right = self.around(inner, &names, &within, carried.step);
        let mut rewritten = table.clone();
        rewritten.columns = names.iter().chain(&carried.names).map(Ident::new).collect();
        (rewritten.search, rewritten.cycle) = (None, None);
        if let ast::Statement::Query(query) = rewritten.statement.as_mut() {
            let (operator, operators) = (SetOperator::Union, vec![Span::NONE]);
            let (all, arms) = (terms.all, vec![left, right]);
            query.body = QueryBody::Set(SetOperation { operator, all, arms, operators });
        }
        Ok(rewritten)
    }

    /// `SELECT own, carried FROM (body) AS made(columns)`.
    fn around(&self, body: QueryBody, own: &[String], columns: &[&String], carried: Vec<Expr>) -> QueryBody {
        let values = own.iter().map(|name| column(name)).chain(carried);
        let query = Query {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            offset: None,
            locks: Vec::new(),
            as_of: None,
            span: Span::NONE,
        };
        let alias = ast::Alias {
            name: Some(Ident::new(self.unique("carried"))),
            columns: columns.iter().map(|name| Ident::new(name.as_str())).collect(),
            definitions: Vec::new(),
            span: Span::NONE,
        };
        let (query, alias) = (Box::new(query), Some(alias));
        QueryBody::Select(Box::new(Select {
            distinct: None,
            targets: values.map(|value| Target { value, label: None }).collect(),
            into: None,
            from: vec![FromItem::Query { lateral: false, query, alias, span: Span::NONE }],
            filter: None,
            group_by: None,
            having: None,
            windows: Vec::new(),
            span: Span::NONE,
        }))
    }
}

/// An expression that no text says.
fn made(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NONE }
}

fn column(name: &str) -> Expr {
    made(ExprKind::Column(vec![Ident::new(name)]))
}

fn boolean(value: bool) -> Expr {
    made(ExprKind::Literal(Literal::Boolean(value)))
}

fn integer(digits: &str) -> Expr {
    made(ExprKind::Literal(Literal::Integer(digits.to_string())))
}

fn operator(sign: &str) -> Operator {
    Operator { schema: Vec::new(), sign: sign.to_string(), span: Span::NONE }
}

fn binary(left: Expr, sign: &str, right: Expr) -> Expr {
    made(ExprKind::Binary { op: operator(sign), left: Box::new(left), right: Box::new(right) })
}

/// `ROW(fields)`.
fn record(fields: Vec<Expr>) -> Expr {
    made(ExprKind::Row { fields, explicit: true })
}

/// `0::bigint`.
fn zero() -> Expr {
    let data_type = ast::TypeName {
        base: ast::TypeBase::BigInt,
        modifiers: Vec::new(),
        array_bounds: Vec::new(),
        set_of: false,
        span: Span::NONE,
    };
    let operand = Box::new(integer("0"));
    made(ExprKind::Cast { operand, data_type, form: ast::CastForm::DoubleColon, at: Span::NONE })
}

/// `before || ARRAY[ROW(fields)]`, and `ARRAY[ROW(fields)]` for the first rows.
fn path(before: &str, fields: &[Expr]) -> (Expr, Expr) {
    let list = made(ExprKind::Array(vec![record(fields.to_vec())]));
    (list.clone(), binary(column(before), "||", list))
}

/// Columns, which must belong to the query.
fn fields(columns: &[Ident], names: &[String], what: &str) -> Result<Vec<Expr>> {
    let mut found: Vec<Expr> = Vec::with_capacity(columns.len());
    for (at, Ident { value: name, .. }) in columns.iter().enumerate() {
        if !names.contains(name) {
            return Err(SqlError::syntax(format!("{what} column \"{name}\" not in WITH query column list")));
        }
        if columns.iter().take(at).any(|other| other.value == *name) {
            let message = format!("{what} column \"{name}\" specified more than once");
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        found.push(column(name));
    }
    Ok(found)
}

/// Adds the columns of both clauses. Errors: the fault of a clause, and the place of that clause.
fn carry(
    table: &ast::CommonTable,
    names: &[String],
    carried: &mut Carried,
) -> std::result::Result<(), (SqlError, Span)> {
    if let Some(search) = &table.search {
        carry_search(search, names, carried).map_err(|error| (error, search.span))?;
    }
    let Some(cycle) = &table.cycle else { return Ok(()) };
    carry_cycle(cycle, names, carried).map_err(|error| (error, cycle.span))?;
    let same =
        |one: &str, other: &str| SqlError::syntax(format!("{one} column name and {other} column name are the same"));
    if cycle.mark.value == cycle.path.value {
        return Err((same("cycle mark", "cycle path"), cycle.span));
    }
    let Some(search) = &table.search else { return Ok(()) };
    for (name, what) in [(&cycle.mark, "cycle mark"), (&cycle.path, "cycle path")] {
        if search.sequence.value == name.value {
            return Err((same("search sequence", what), search.span));
        }
    }
    Ok(())
}

fn carry_search(search: &ast::Search, names: &[String], carried: &mut Carried) -> Result<()> {
    let fields = fields(&search.columns, names, "search")?;
    let [before, ..] = &carried.hidden;
    let (first, step) = if search.breadth_first {
        let field = ast::Step::Field(Ident::new("f1"));
        let depth = made(ExprKind::Path { operand: Box::new(column(before)), steps: vec![field] });
        let numbered = |depth: Expr| record(std::iter::once(depth).chain(fields.iter().cloned()).collect());
        (numbered(zero()), numbered(binary(depth, "+", integer("1"))))
    } else {
        path(before, &fields)
    };
    carried.names.push(new_name(&search.sequence, names, "search sequence")?);
    carried.first.push(first);
    carried.step.push(step);
    Ok(())
}

fn carry_cycle(cycle: &ast::Cycle, names: &[String], carried: &mut Carried) -> Result<()> {
    let fields = fields(&cycle.columns, names, "cycle")?;
    let mark = new_name(&cycle.mark, names, "cycle mark")?;
    let (to, default) = match &cycle.values {
        Some(values) => values.as_ref().clone(),
        None => (boolean(true), boolean(false)),
    };
    let marked = |condition: Expr| {
        let branches = vec![(condition, to.clone())];
        made(ExprKind::Case { operand: None, branches, otherwise: Some(Box::new(default.clone())) })
    };
    let Some(before) = carried.hidden.get(carried.names.len() + 1) else {
        return Err(SqlError::internal("a cycle without a path"));
    };
    let known = made(ExprKind::Quantified {
        left: Box::new(record(fields.clone())),
        op: operator("="),
        all: false,
        right: ast::Quantity::Array(Box::new(column(before))),
    });
    let (first, step) = path(before, &fields);
    // The first value gives the column the common type of both.
    carried.first.extend([marked(boolean(false)), first]);
    carried.step.extend([marked(known), step]);
    carried.ended = Some((mark.clone(), to.clone()));
    carried.names.push(mark);
    carried.names.push(new_name(&cycle.path, names, "cycle path")?);
    Ok(())
}

fn new_name(ident: &Ident, names: &[String], what: &str) -> Result<String> {
    let name = &ident.value;
    if names.contains(name) {
        return Err(SqlError::syntax(format!("{what} column name \"{name}\" already used in WITH query column list")));
    }
    Ok(name.clone())
}

/// The name under which an item of FROM shows the query of WITH with this name.
fn own_name(item: &FromItem, name: &str) -> Option<Ident> {
    let (first, joins) = parts(item);
    std::iter::once(first).chain(joins.into_iter().map(|join| &join.right)).find_map(|item| match item {
        FromItem::Table { relation, alias, .. } => match relation.name.parts.as_slice() {
            [ident] if ident.value == name => {
                Some(alias.as_ref().and_then(|alias| alias.name.clone()).unwrap_or_else(|| ident.clone()))
            }
            _ => None,
        },
        FromItem::Join(join) if join.alias.is_none() => syntax::deeper(|| own_name(item, name)),
        _ => None,
    })
}

/// The recursive term with the carried columns of the last round, without rows in which a cycle ended.
fn with_hidden(term: &QueryBody, name: &str, carried: &Carried) -> Result<QueryBody> {
    let refused = || {
        let message = format!(
            "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of its right-hand SELECT"
        );
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
    };
    let mut select = match term {
        QueryBody::Select(select) => select.clone(),
        QueryBody::Nested(query) => match &query.body {
            QueryBody::Select(select) if is_alone(query) => select.clone(),
            _ => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    let own = select.from.iter().find_map(|item| own_name(item, name)).ok_or_else(refused)?;
    let column = |name: &str| made(ExprKind::Column(vec![own.clone(), Ident::new(name)]));
    for (name, hidden) in carried.names.iter().zip(&carried.hidden) {
        select.targets.push(Target { value: column(name), label: Some(Ident::new(hidden)) });
    }
    if let Some((mark, to)) = &carried.ended {
        let goes_on = binary(column(mark), "<>", to.clone());
        select.filter = Some(match select.filter.take() {
            Some(condition) => made(ExprKind::And(vec![condition, goes_on])),
            None => goes_on,
        });
    }
    Ok(QueryBody::Select(select))
}
