//! WHERE CURRENT OF: identifies the cursor's row by its primary key, or else by its row key.

use super::binder::Binder;
use super::expression::Env;
use catalog::{RelationKind, TableDescriptor};
use datafusion::logical_expr::Expr;
use functions::TypedExpr;
use functions::kernel::{Call, Kernel, KernelFunction, Stability};
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use std::sync::Arc;
use syntax::fold;
use types::record::RecordType;
use types::{BaseType, SqlType};

/// The function by which a cursor's query returns the row key of a relation.
pub const ROW_KEY: &str = "\u{1}row key";

/// The type of row keys, which has no SQL name: bytea has the same Arrow form.
pub fn key_type() -> SqlType {
    SqlType::of(BaseType::Record(RecordType::any()))
}

impl Binder<'_> {
    /// The row key of a relation in the current scope.
    pub fn row_key(&self, relation: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let ast::Expr::Identifier(name) = relation else { return Err(SqlError::internal("the row key of nothing")) };
        let key = env.scope.relation(None, &fold(name)).and_then(|relation| relation.key.clone());
        let key = key.ok_or_else(|| SqlError::unsupported("the row key of this relation"))?;
        Ok(TypedExpr::new(Expr::Column(key), key_type()))
    }

    /// The condition that a row of the written table is the cursor's row. Errors: 0A000 for views.
    pub fn current_of(&self, cursor: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(cursor), .. }) = cursor else {
            return Err(SqlError::internal("the current row of nothing"));
        };
        let relation = env.scope.relations.first().ok_or_else(|| SqlError::internal("no row to be the current one"))?;
        let table = self.context.catalog.relation_by_oid(relation.row_of);
        let Some(table) = table.filter(|table| table.kind == RelationKind::Table) else {
            let message = "WHERE CURRENT OF on a view is not implemented";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).of_values());
        };
        let Some(primary) = table.primary_key() else {
            let key = relation.key.clone().ok_or_else(|| SqlError::internal("a table without row keys"))?;
            let current = self.current(cursor, &table, 0, key_type());
            return Ok(TypedExpr::new(Expr::Column(key).eq(current.expr), SqlType::BOOL));
        };
        let mut condition: Option<Expr> = None;
        for (place, part) in primary.columns.iter().enumerate() {
            let column = relation.columns.iter().find(|column| column.attnum == part.column);
            let column = column.ok_or_else(|| SqlError::internal("a primary key without its column"))?;
            let current = self.current(cursor, &table, place, column.ty.plain());
            let equal = self.resolver.operator("=", Some(column.typed()), current)?.expr;
            condition = Some(match condition {
                Some(before) => before.and(equal),
                None => equal,
            });
        }
        let condition = condition.ok_or_else(|| SqlError::internal("a primary key without columns"))?;
        Ok(TypedExpr::new(condition, SqlType::BOOL))
    }

    /// A column that identifies the cursor's row, by its position. Errors while running: 34000, 24000.
    fn current(&self, cursor: &str, table: &Arc<TableDescriptor>, place: usize, ty: SqlType) -> TypedExpr {
        let name = format!("current {place} of {cursor}");
        let (cursor, table) = (cursor.to_string(), table.clone());
        let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
            let context = call.context()?;
            let cursors = context.session.cursors.get().ok_or_else(|| context::cursor_list::missing(&cursor))?;
            let value = cursors.current(&cursor, &table, place)?;
            Ok(value.to_array_of_size(call.rows)?)
        });
        let slots = Some(Arc::clone(self.resolver.slots));
        KernelFunction::new(name, Vec::new(), ty, Stability::Stable, kernel, slots).call(Vec::new())
    }
}
