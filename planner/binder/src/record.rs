//! Rows as values: ROW(…), `(a, b)`, whole rows of relations, and fields of rows.

use super::binder::Binder;
use super::expression::Env;
use super::scope::{Scope, ScopeRelation};
use super::select::Item;
use datafusion::logical_expr::{Case, Expr};
use functions::{CastContext, TypedExpr, record};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, ExprKind, Step};
use syntax::plain_call;
use types::{Datum, SqlType};

impl Binder<'_> {
    /// `t.f` for `f(t)`: if a row has no field `f`, it may be a function of rows or an aggregate.
    pub fn function_as_field(&self, row: ast::Expr, field: &ast::Ident, env: Env<'_>) -> Option<TypedExpr> {
        let name = field.value.as_str();
        let typed = self.expr(&row, env).ok().filter(|typed| typed.ty.as_record().is_some())?;
        if !self.resolver.is_aggregate(name) && self.resolver.function(name, vec![typed]).is_err() {
            return None;
        }
        self.call(&plain_call(field.clone(), row), env).ok()
    }

    /// `ROW(…)` and `(a, b)`: a record with fields f1, f2, …. A bare string keeps its unknown type.
    pub fn row_value(&self, fields: Vec<TypedExpr>) -> Result<TypedExpr> {
        super::clauses::at_most(fields.len(), "ROW expressions")?;
        let settle = |typed: TypedExpr| if typed.constant().is_some() { Ok(typed) } else { self.settle(typed) };
        let named = fields.into_iter().enumerate().map(|(at, typed)| Ok((format!("f{}", at + 1), settle(typed)?)));
        Ok(record::row(named.collect::<Result<_>>()?))
    }

    /// The fields of a row. `t.*` means the columns of t, and `(row).*` the fields of the row.
    pub fn row_fields(&self, written: &[ast::Expr], env: Env<'_>) -> Result<Vec<TypedExpr>> {
        let mut fields = Vec::with_capacity(written.len());
        for field in written {
            if let ExprKind::Star(names) = &field.kind {
                let (schema, relation) = relation_of(names)?;
                let names = self.columns_of(schema, relation, env.scope)?;
                fields.extend(names.into_iter().map(|(_, typed)| typed));
            } else if let Some(row) = all_fields(field) {
                fields.extend(self.expanded_row(&row, env)?.into_iter().map(|item| item.typed));
            } else {
                fields.push(self.expr(field, env)?);
            }
        }
        Ok(fields)
    }

    /// The columns of a relation in this scope or an outer one.
    pub fn columns_of(
        &self,
        schema: Option<&str>,
        relation: &str,
        scope: &Scope<'_>,
    ) -> Result<Vec<(String, TypedExpr)>> {
        let (found, around, depth) = scope.find_relation(schema, relation)?;
        let seen = |column: &super::scope::ScopeColumn| Ok((column.name.clone(), around.seen_from(column, depth)?));
        found.columns.iter().map(seen).collect()
    }

    /// The whole row of a relation. It is NULL if an outer join found no row.
    pub fn whole_row(&self, schema: Option<&str>, name: &str, scope: &Scope<'_>) -> Result<TypedExpr> {
        let columns = self.columns_of(schema, name, scope)?;
        let (relation, around, depth) = scope.find_relation(schema, name)?;
        if let ([(_, only)], ScopeRelation { scalar: true, .. }) = (columns.as_slice(), relation) {
            return Ok(only.clone());
        }
        let settled = columns.into_iter().map(|(name, typed)| Ok((name, self.settle(typed)?)));
        let columns = settled.collect::<Result<Vec<_>>>()?;
        let row = match self.row_type(relation, &columns) {
            Some(ty) => record::row_of(columns.into_iter().map(|(_, typed)| typed).collect(), ty),
            None => record::row(columns),
        };
        let Some(key) = relation.key.as_ref().or(relation.present.as_ref()) else { return Ok(row) };
        let key = match depth {
            0 => Expr::Column(key.clone()),
            _ => super::scope::outer_references(Expr::Column(key.clone()), around.schema.as_deref())?,
        };
        let null = Expr::Literal(Datum::Binary(None), None);
        let case = Case {
            expr: None,
            when_then_expr: vec![(Box::new(key.is_null()), Box::new(null))],
            else_expr: Some(Box::new(row.expr)),
        };
        Ok(TypedExpr { expr: Expr::Case(case), ty: row.ty })
    }

    /// The row type of a relation, if it is a table or view. A view that was made before columns were added or dropped
    /// keeps the fields of that time, as an anonymous record.
    fn row_type(&self, relation: &ScopeRelation, columns: &[(String, TypedExpr)]) -> Option<SqlType> {
        let table = self.context.catalog.relation_by_oid(relation.row_of)?;
        let same = table.live_columns().map(|column| column.ty).eq(columns.iter().map(|(_, typed)| typed.ty));
        same.then(|| table.row_type())
    }

    /// Binds `ROW(…)::t`: each field is cast to the field's type in t. `None` for other casts. Errors: 42846.
    pub fn row_as(&self, expr: &ast::Expr, to: SqlType, env: Env<'_>) -> Result<Option<TypedExpr>> {
        let Some(wanted) = to.as_record().filter(|wanted| wanted.row_of().is_some()) else { return Ok(None) };
        let ExprKind::Row { fields: written, .. } = &expr.kind else { return Ok(None) };
        let fields = self.row_fields(written, env)?;
        let refused = |detail: String| {
            let message = format!("cannot cast type record to {}", to.name());
            SqlError::new(state::CANNOT_COERCE, message).detail(detail)
        };
        if fields.len() != wanted.fields().len() {
            let which = if fields.len() < wanted.fields().len() { "few" } else { "many" };
            return Err(refused(format!("Input has too {which} columns.")));
        }
        let mut cast = Vec::with_capacity(fields.len());
        for (at, (field, ty)) in (1..).zip(fields.into_iter().zip(wanted.types())) {
            let from = field.ty;
            cast.push(self.resolver.cast(field, ty, CastContext::Explicit).map_err(|error| {
                match error.state() == state::CANNOT_COERCE {
                    true => refused(format!("Cannot cast type {} to {} in column {at}.", from.name(), ty.name())),
                    false => error,
                }
            })?);
        }
        Ok(Some(record::row_of(cast, to)))
    }

    /// `(row).field`. For other values, a call of a function with one argument.
    pub fn field(&self, root: TypedExpr, name: &str) -> Result<TypedExpr> {
        let Some(record) = root.ty.as_record() else {
            if !root.is_unknown()
                && !root.ty.array
                && let Ok(called) = self.resolver.function(name, vec![root.clone()])
            {
                return Ok(called);
            }
            let ty = root.ty.name();
            let message = format!("column notation .{name} applied to type {ty}, which is not a composite type");
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        };
        match record.field(name) {
            Some((place, ty)) => Ok(record::field(root, place, ty)),
            None => {
                let message = match root.ty.row_of() {
                    Some(_) => format!("column \"{name}\" not found in data type {}", root.ty.name()),
                    None => format!("could not identify column \"{name}\" in record data type"),
                };
                Err(SqlError::new(state::UNDEFINED_COLUMN, message))
            }
        }
    }

    /// `(row).*` in a select list.
    pub fn expanded_row(&self, expr: &ast::Expr, env: Env<'_>) -> Result<Vec<Item>> {
        if let Some(relation) = relation_in_brackets(expr, env.scope) {
            let columns = self.columns_of(None, &relation, env.scope)?;
            return Ok(columns
                .into_iter()
                .map(|(name, typed)| Item { name, typed, table_oid: 0, attnum: 0 })
                .collect());
        }
        let root = self.expr(expr, env)?;
        let Some(fields) = root.ty.as_record() else {
            let message = format!("type {} is not composite", root.ty.name());
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        };
        let item = |(place, (name, ty)): (usize, &(String, SqlType))| Item {
            name: name.clone(),
            typed: record::field(root.clone(), place, *ty),
            table_oid: 0,
            attnum: 0,
        };
        Ok(fields.fields().iter().enumerate().map(item).collect())
    }
}

/// The row expression of `(row).*`.
pub fn all_fields(expr: &ast::Expr) -> Option<ast::Expr> {
    let ExprKind::Path { operand, steps } = &expr.kind else { return None };
    let (Step::All(_), before) = steps.split_last()? else { return None };
    Some(match before.is_empty() {
        true => operand.as_ref().clone(),
        false => {
            let kind = ExprKind::Path { operand: operand.clone(), steps: before.to_vec() };
            ast::Expr { kind, span: expr.span }
        }
    })
}

/// The relation whose whole row `(t)` means: a name that is not a column's.
pub fn relation_in_brackets(expr: &ast::Expr, scope: &Scope<'_>) -> Option<String> {
    let ExprKind::Column(names) = &expr.kind else { return None };
    let [name] = names.as_slice() else { return None };
    let name = &name.value;
    (scope.column(name).is_err() && scope.find_relation(None, name).is_ok()).then(|| name.clone())
}

/// The optional schema and the name of the relation before `.*`. Errors: 42601.
pub fn relation_of(names: &[ast::Ident]) -> Result<(Option<&str>, &str)> {
    match names {
        [relation] => Ok((None, relation.value.as_str())),
        [schema, relation] | [_, schema, relation] => Ok((Some(schema.value.as_str()), relation.value.as_str())),
        [] => Err(SqlError::syntax("syntax error at or near \"*\"")),
        names => {
            let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
            let message = format!("improper qualified name (too many dotted names): {}.*", names.join("."));
            Err(SqlError::syntax(message))
        }
    }
}
