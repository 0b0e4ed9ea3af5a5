//! WHERE CURRENT OF: identifies the cursor's row by its primary key, or else by its row key.

use super::binder::Binder;
use super::expression::Env;
use super::select::Item;
use catalog::{RelationKind, TableDescriptor};
use datafusion::logical_expr::Expr;
use functions::TypedExpr;
use functions::kernel::{Call, Kernel, KernelFunction, Stability};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::{Span, ast};
use types::record::RecordType;
use types::{BaseType, Oid, SqlType};

/// The tables of a cursor's query whose rows its plan identifies by further columns. No text says these columns.
#[derive(Clone, Copy)]
pub struct Identified<'a> {
    /// The place of the SELECT whose list gets the columns.
    pub select: Span,
    /// For each table its name in that FROM clause, and its OID.
    pub tables: &'a [(String, Oid)],
}

/// The type of row keys, which has no SQL name: bytea has the same Arrow form.
pub fn key_type() -> SqlType {
    SqlType::of(BaseType::Record(RecordType::any()))
}

impl Binder<'_> {
    /// The columns that identify the rows of a cursor's tables, if this is the SELECT of the cursor: the primary key
    /// of each table, or else its row key. They have no names. Errors: 0A000.
    pub fn identities(&self, select: &ast::Select, env: Env<'_>) -> Result<Vec<Item>> {
        // The queries of views have other texts.
        let own = self.context.identified.filter(|own| self.depth == 0 && own.select.is_at(select.span));
        let mut items = Vec::new();
        for (shown, table) in own.map_or(&[][..], |identified| identified.tables) {
            let missing = || SqlError::unsupported("the row key of this relation");
            let relation = env.scope.relation(None, shown).ok_or_else(missing)?;
            let table = self.context.catalog.relation_by_oid(*table).ok_or_else(missing)?;
            let Some(primary) = table.primary_key() else {
                let key = relation.key.clone().ok_or_else(missing)?;
                let typed = TypedExpr::new(Expr::Column(key), key_type());
                items.push(Item { name: String::new(), typed, table_oid: 0, attnum: 0 });
                continue;
            };
            for part in &primary.columns {
                let column = relation.columns.iter().find(|column| column.attnum == part.column);
                let column = column.ok_or_else(missing)?;
                let (table_oid, attnum) = (column.table_oid, column.attnum);
                items.push(Item { name: String::new(), typed: column.read(), table_oid, attnum });
            }
        }
        Ok(items)
    }

    /// The condition that a row of the written table is the cursor's row. Errors: 0A000 for views.
    pub fn current_of(&self, cursor: &ast::Ident, env: Env<'_>) -> Result<TypedExpr> {
        let cursor = cursor.value.as_str();
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
