//! [`Scope`]: the names that an expression can see.

use super::pushed_lock::HiddenKey;
use super::system_column::system_column;
use catalog::TableDescriptor;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ExprSchema};
use datafusion::logical_expr::Expr;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::{Oid, SqlType};

/// Records whether the statement reads some columns by name.
#[derive(Debug, Default)]
pub struct Reading {
    read: AtomicBool,
    /// A record that is set at the same time.
    also: Option<Arc<Reading>>,
}

impl Reading {
    /// A new record. `also` is set whenever it is.
    pub fn along_with(also: Option<Arc<Reading>>) -> Arc<Self> {
        Arc::new(Reading { read: AtomicBool::new(false), also })
    }
    /// Records that one of the columns is read.
    fn note(&self) {
        self.read.store(true, Ordering::Relaxed);
        if let Some(also) = &self.also {
            also.note();
        }
    }
    /// Whether any of the columns was read.
    pub fn is_noted(&self) -> bool {
        self.read.load(Ordering::Relaxed)
    }
}

/// A column that a name can refer to.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    /// Name of the column.
    pub name: String,
    /// The column's expression over the plan.
    pub expr: Expr,
    /// SQL type of the column.
    pub ty: SqlType,
    /// The table that it comes from unchanged, or 0.
    pub table_oid: Oid,
    /// Its column number in that table, or 0.
    pub attnum: i16,
    /// Records reads of the column, if a privilege depends on them.
    pub reading: Option<Arc<Reading>>,
}

impl ScopeColumn {
    /// The column as an expression of the statement. This records a read.
    pub fn read(&self) -> TypedExpr {
        if let Some(reading) = &self.reading {
            reading.note();
        }
        self.typed()
    }
    /// The column as an expression, without recording a read.
    pub fn typed(&self) -> TypedExpr {
        TypedExpr { expr: self.expr.clone(), ty: self.ty }
    }
}

/// A relation of a FROM clause.
#[derive(Clone, Debug)]
pub struct ScopeRelation {
    /// Whether it is a function with one column. Then its name also means the value.
    pub scalar: bool,
    /// Its alias, or else its name.
    pub name: String,
    /// Its schema, for a table without an alias.
    pub schema: Option<String>,
    /// Columns of the relation.
    pub columns: Vec<ScopeColumn>,
    /// The table, if it is one.
    pub table: Option<Arc<TableDescriptor>>,
    /// The table or view whose row type its whole row has, or 0.
    pub row_of: Oid,
    /// The plan's column with the row key.
    pub key: Option<Column>,
    /// For other relations on the optional side of an outer join: a column of the plan that is NULL if there is no row.
    pub present: Option<Column>,
    /// Row keys of the tables in a locked subquery or view.
    pub keys: Vec<HiddenKey>,
    /// The kind of relation, if its rows cannot be locked.
    pub unlockable: Option<&'static str>,
    /// Records reads of its system columns, if a privilege depends on them.
    pub reading: Option<Arc<Reading>>,
}

impl ScopeRelation {
    /// A relation with just columns and no table.
    pub fn of_columns(name: String, columns: Vec<ScopeColumn>) -> ScopeRelation {
        let (schema, table, key, keys) = (None, None, None, Vec::new());
        let (present, unlockable, reading) = (None, None, None);
        ScopeRelation {
            scalar: false,
            name,
            schema,
            columns,
            table,
            row_of: 0,
            key,
            present,
            keys,
            unlockable,
            reading,
        }
    }
}

/// The visible names of an expression.
#[derive(Clone, Debug, Default)]
pub struct Scope<'p> {
    /// The relations, for qualified names.
    pub relations: Vec<ScopeRelation>,
    /// The columns in order, for `*` and unqualified names. Columns merged by USING occur once.
    pub visible: Vec<ScopeColumn>,
    /// Schema of the plan to which the columns belong.
    pub schema: Option<DFSchemaRef>,
    /// The scope of the outer query.
    pub parent: Option<&'p Scope<'p>>,
    /// A name that may not be used here, with the reason: the target of UPDATE in its own FROM.
    pub barred: Option<String>,
    /// The FROM items before the comma. LATERAL can see them, but conditions of the joins behind the comma cannot.
    pub before: Before,
}

/// While the joins behind the last comma of FROM are bound: how many of the first relations and visible columns precede
/// the comma.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    relations: usize,
    columns: usize,
}

impl<'p> Scope<'p> {
    /// An empty scope within an outer one.
    pub fn empty(parent: Option<&'p Scope<'p>>) -> Self {
        Scope { parent, ..Scope::default() }
    }

    /// A scope with one relation.
    pub fn of(relation: ScopeRelation, schema: DFSchemaRef, parent: Option<&'p Scope<'p>>) -> Self {
        let visible = relation.columns.clone();
        Scope { relations: vec![relation], visible, schema: Some(schema), parent, ..Scope::default() }
    }

    /// The counts of all relations and columns so far, which will precede a comma.
    pub fn whole(&self) -> Before {
        Before { relations: self.relations.len(), columns: self.visible.len() }
    }

    /// The columns before the comma, and those behind it.
    pub fn split_columns(&self) -> (&[ScopeColumn], &[ScopeColumn]) {
        self.visible.split_at_checked(self.before.columns).unwrap_or((&[], &self.visible))
    }

    /// The scope for join conditions behind a comma, and the relations that it excludes. `None` without a comma.
    pub fn behind_comma(&self) -> Option<(Scope<'p>, &[ScopeRelation])> {
        let (before, behind) = self.relations.split_at_checked(self.before.relations)?;
        if before.is_empty() {
            return None;
        }
        let (relations, visible) = (behind.to_vec(), self.split_columns().1.to_vec());
        let (schema, barred) = (self.schema.clone(), self.barred.clone());
        Some((Scope { relations, visible, schema, parent: self.parent, barred, ..Scope::default() }, before))
    }

    /// Looks up a column here and in outer queries. Errors: 42703, 42702.
    pub fn column(&self, name: &str) -> Result<TypedExpr> {
        let mut scope = self;
        let mut depth = 0;
        loop {
            let mut found = scope.visible.iter().filter(|column| column.name == name);
            if let Some(column) = found.next() {
                if found.next().is_some() {
                    return Err(ambiguous(name));
                }
                return scope.seen_from(column, depth);
            }
            let mut of_system =
                scope.relations.iter().filter_map(|relation| scope.system(relation, name, depth).transpose());
            if let Some(column) = of_system.next() {
                if of_system.next().is_some() {
                    return Err(ambiguous(name));
                }
                return column;
            }
            match scope.parent {
                Some(parent) => {
                    scope = parent;
                    depth += 1;
                }
                None => return Err(undefined(&format!("column \"{name}\" does not exist"))),
            }
        }
    }

    /// Looks up a qualified column here and in outer queries. Errors: 42P01, 42703, 42702.
    pub fn qualified(&self, schema: Option<&str>, relation: &str, name: &str) -> Result<TypedExpr> {
        let (found, scope, depth) = self.find_relation(schema, relation)?;
        let mut columns = found.columns.iter().filter(|column| column.name == name);
        let Some(column) = columns.next() else {
            if let Some(column) = scope.system(found, name, depth)? {
                return Ok(column);
            }
            return Err(undefined(&format!("column {relation}.{name} does not exist")));
        };
        if columns.next().is_some() {
            return Err(ambiguous(name));
        }
        scope.seen_from(column, depth)
    }

    /// Looks up a relation in this scope only.
    pub fn relation(&self, schema: Option<&str>, name: &str) -> Option<&ScopeRelation> {
        self.relations.iter().find(|relation| matches(relation, schema, name))
    }

    /// Looks up a relation here and in outer scopes. Answers the relation, its scope and the number of levels.
    pub fn find_relation(&self, schema: Option<&str>, name: &str) -> Result<(&ScopeRelation, &Scope<'p>, usize)> {
        let mut scope = self;
        let mut depth = 0;
        loop {
            let mut found = scope.relations.iter().filter(|relation| matches(relation, schema, name));
            if let Some(relation) = found.next() {
                if found.next().is_some() {
                    let message = format!("table reference \"{name}\" is ambiguous");
                    return Err(SqlError::new(state::AMBIGUOUS_ALIAS, message));
                }
                return Ok((relation, scope, depth));
            }
            if scope.barred.as_deref() == Some(name) {
                let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
                return Err(SqlError::new(state::UNDEFINED_TABLE, message).hint(format!(
                    "There is an entry for table \"{name}\", but it cannot be referenced from this part of the query."
                )));
            }
            match scope.parent {
                Some(parent) => {
                    scope = parent;
                    depth += 1;
                }
                None if self.alias_of(schema, name).is_some() => {
                    let alias = self.alias_of(schema, name).unwrap_or_default();
                    let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
                    return Err(SqlError::new(state::UNDEFINED_TABLE, message)
                        .hint(format!("Perhaps you meant to reference the table alias \"{alias}\".")));
                }
                None => {
                    let message = format!("missing FROM-clause entry for table \"{name}\"");
                    return Err(SqlError::new(state::UNDEFINED_TABLE, message));
                }
            }
        }
    }

    /// The alias that hides a table of this name.
    fn alias_of(&self, schema: Option<&str>, name: &str) -> Option<String> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            let aliased = |relation: &&ScopeRelation| {
                let is =
                    |table: &TableDescriptor| table.name == name && schema.is_none_or(|given| table.schema == given);
                relation.table.as_deref().is_some_and(is)
            };
            if let Some(relation) = here.relations.iter().find(aliased) {
                return Some(relation.name.clone());
            }
            scope = here.parent;
        }
        None
    }

    /// A system column of a relation, for a query `depth` levels within. `None` for other names.
    fn system(&self, relation: &ScopeRelation, name: &str, depth: usize) -> Result<Option<TypedExpr>> {
        let schema = self.schema.as_deref();
        let Some(column) = system_column(relation, schema, name)? else { return Ok(None) };
        if let Some(reading) = &relation.reading {
            reading.note();
        }
        let expr = if depth == 0 { column.expr } else { outer_references(column.expr, schema)? };
        Ok(Some(TypedExpr { expr, ty: column.ty }))
    }

    /// A column, for a query `depth` levels within.
    pub fn seen_from(&self, column: &ScopeColumn, depth: usize) -> Result<TypedExpr> {
        let typed = column.read();
        if depth == 0 {
            return Ok(typed);
        }
        let schema = self.schema.as_deref();
        Ok(TypedExpr { expr: outer_references(typed.expr, schema)?, ty: typed.ty })
    }
}

/// Converts every column of an expression to a reference to the outer query.
pub fn outer_references(expr: Expr, schema: Option<&DFSchema>) -> Result<Expr> {
    let transformed = expr.transform_up(|expr| match expr {
        Expr::Column(column) => {
            let field = match schema {
                Some(schema) => schema.field_from_column(&column)?.clone(),
                None => return Err(SqlError::internal("a scope with columns has no schema").into()),
            };
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(transformed.data)
}

fn matches(relation: &ScopeRelation, schema: Option<&str>, name: &str) -> bool {
    relation.name == name && (schema.is_none() || relation.schema.as_deref() == schema)
}

fn ambiguous(name: &str) -> SqlError {
    SqlError::new(state::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous"))
}

fn undefined(message: &str) -> SqlError {
    SqlError::new(state::UNDEFINED_COLUMN, message)
}
