//! Names in DDL: the schema of a new object, PostgreSQL's generated names, and the errors for missing objects.

use super::DdlContext;
use catalog::acl::{CREATE, Kind, TEMPORARY};
use catalog::{RelationKind, SchemaDescriptor, TableDescriptor, no_schema};
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use syntax::ast::Name;
use syntax::{fold_name, is_system_column, own_database};

impl DdlContext {
    /// The schema and name of a new relation.
    pub(super) fn new_relation(&self, name: &Name) -> Result<(Arc<SchemaDescriptor>, String)> {
        self.new_relation_of(name, false)
    }
    /// The same for a relation that may be temporary. Errors: 42P16 for a temporary relation in another schema.
    pub(super) fn new_relation_of(&self, name: &Name, temporary: bool) -> Result<(Arc<SchemaDescriptor>, String)> {
        self.in_this_database(name)?;
        let (schema, name) = fold_name(name)?;
        let own = |schema: &String| schema == "pg_temp" || self.settings.temporary() == Some(schema.as_str());
        if temporary || schema.as_ref().is_some_and(own) {
            if schema.is_some_and(|schema| !own(&schema)) {
                let message = "cannot create temporary relation in non-temporary schema";
                return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
            }
            let schema = self.temporary_schema()?;
            self.may_create_in(&schema)?;
            return Ok((schema, name));
        }
        if let Some(other) = schema.as_ref().filter(|schema| catalog::is_temporary(schema)) {
            self.schema(other)?;
            let message = "cannot create relations in temporary schemas of other sessions";
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let schema = match schema {
            Some(schema) => self.schema(&schema)?,
            None => {
                let mut path = self.settings.creation_path().iter();
                let first = path.find(|name| own(name) || self.catalog.schema(name).is_some()).ok_or_else(|| {
                    let message = "no schema has been selected to create in";
                    SqlError::new(state::INVALID_SCHEMA_NAME, message)
                })?;
                if own(first) {
                    let schema = self.temporary_schema()?;
                    self.may_create_in(&schema)?;
                    return Ok((schema, name));
                }
                self.schema(first)?
            }
        };
        if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == schema.oid) {
            let message = format!("permission denied to create \"{}.{name}\"", schema.name);
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message)
                .detail("System catalog modifications are currently disallowed."));
        }
        self.may_create_in(&schema)?;
        Ok((schema, name))
    }
    /// Errors: 42501 for a role that may not create objects in a schema.
    pub(super) fn may_create_in(&self, schema: &SchemaDescriptor) -> Result<()> {
        let temporary = catalog::is_temporary(&schema.name);
        let held = match temporary {
            true => {
                let database = self.catalog.database();
                let (kind, acl) = (Kind::Database, database.acl.as_ref());
                self.catalog.rights(self.user, kind, database.owner, acl, TEMPORARY)
            }
            false => {
                let own = catalog::acl::schema_acl(schema);
                self.catalog.rights(self.user, Kind::Schema, schema.owner, own.as_ref(), CREATE)
            }
        };
        if held != 0 {
            return Ok(());
        }
        if temporary && self.catalog.schema(&schema.name).is_none() {
            let name = &self.catalog.database().name;
            let message = format!("permission denied to create temporary tables in database \"{name}\"");
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        let message = format!("permission denied for schema {}", schema.name);
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// The schema with this name. Errors: 3F000.
    pub(super) fn schema(&self, name: &str) -> Result<Arc<SchemaDescriptor>> {
        self.catalog.schema(name).ok_or_else(|| no_schema(name))
    }
    /// Errors: 0A000 for a name qualified with another database.
    fn in_this_database(&self, name: &Name) -> Result<()> {
        let [database, schema, relation] = name.parts.as_slice() else { return Ok(()) };
        let shown = format!("\"{}.{}.{}\"", database.value, schema.value, relation.value);
        own_database(&database.value, &self.catalog.database().name, &shown)
    }
    /// Finds a relation by name.
    pub(super) fn find(&self, name: &Name) -> Result<Option<Arc<TableDescriptor>>> {
        self.in_this_database(name)?;
        let (schema, name) = fold_name(name)?;
        Ok(self.catalog.relation(schema.as_deref(), &name, self.settings.search_path()))
    }
    /// Whether a name means an index.
    pub(super) fn names_index(&self, name: &Name) -> bool {
        fold_name(name).is_ok_and(|(schema, name)| {
            self.catalog.index_named(schema.as_deref(), &name, self.settings.search_path()).is_some()
        })
    }
    /// The error for a name that is not a relation with rows: 42P01, or 42809 for an index.
    pub(super) fn no_relation(&self, name: &Name) -> SqlError {
        match fold_name(name) {
            Ok((schema, name)) => self.catalog.no_relation(schema.as_deref(), &name, self.settings.search_path()),
            Err(error) => error,
        }
    }
    /// The same if only one kind is valid. `kind` describes it in the message.
    pub(super) fn no_relation_of(&self, name: &Name, kind: &str) -> SqlError {
        match fold_name(name) {
            Ok((_, index)) if self.names_index(name) => {
                SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{index}\" is not a {kind}"))
            }
            _ => self.no_relation(name),
        }
    }
    /// A table that the user may change, by name. Errors: 42P01, 42809, 42501.
    pub(super) fn table(&self, name: &Name) -> Result<Arc<TableDescriptor>> {
        let Some(table) = self.find(name)? else { return Err(self.no_relation(name)) };
        expect_kind(&table, RelationKind::Table)?;
        Ok(table)
    }
    /// The newest descriptor of a table, once its lock is held. COMMIT requires that the descriptor
    /// did not change since.
    pub(super) async fn locked_table(&self, name: &Name) -> Result<TableDescriptor> {
        let table = self.table(name)?;
        self.lock(&table).await?;
        let mut table = TableDescriptor::clone(&table);
        table.version += 1;
        Ok(table)
    }
}

/// Errors unless a relation has this kind.
pub(super) fn expect_kind(table: &TableDescriptor, kind: RelationKind) -> Result<()> {
    if table.kind == kind {
        return Ok(());
    }
    if table.kind == RelationKind::SystemView {
        let message = format!("permission denied: \"{}\" is a system catalog", table.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    let what = match kind {
        RelationKind::Table => "a table",
        RelationKind::Sequence => "a sequence",
        RelationKind::SystemView | RelationKind::View => "a view",
    };
    Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not {what}", table.name)))
}

/// `name1_name2_label`, truncated to 63 bytes as by PostgreSQL's makeObjectName.
fn object_name(table: &str, column: Option<&str>, label: &str) -> String {
    let overhead = label.len() + 1 + usize::from(column.is_some());
    let available = syntax::names::LONGEST.saturating_sub(overhead);
    let (mut first, mut second) = (table.len(), column.map_or(0, str::len));
    while first + second > available {
        if first > second {
            first -= 1;
        } else {
            second -= 1;
        }
    }
    let cut = |text: &str, mut length: usize| {
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        text.get(..length).unwrap_or_default().to_string()
    };
    match column {
        Some(column) => format!("{}_{}_{label}", cut(table, first), cut(column, second)),
        None => format!("{}_{label}", cut(table, first)),
    }
}

/// Names that the statement has chosen and the catalog does not know yet.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    relations: HashSet<String>,
    constraints: HashSet<String>,
    /// Names of relations that the statement has dropped or renamed.
    freed: HashSet<String>,
}

impl Chosen {
    fn is_taken(&self, context: &DdlContext, schema: &str, name: &str) -> bool {
        context.catalog.name_is_taken(schema, name) && !self.freed.contains(name)
    }
    /// Frees a relation's name in the schema of the altered object.
    pub(super) fn free_relation(&mut self, name: &str) {
        self.relations.remove(name);
        self.freed.insert(name.to_string());
    }
    /// A free name for a relation in `schema`: `table_column_label`, with a number if it is taken.
    pub(super) fn relation(
        &mut self,
        context: &DdlContext,
        schema: &str,
        table: &str,
        column: Option<&str>,
        label: &str,
    ) -> String {
        let mut pass = 0_u32;
        loop {
            let label = if pass == 0 { label.to_string() } else { format!("{label}{pass}") };
            let name = object_name(table, column, &label);
            if !self.is_taken(context, schema, &name) && self.relations.insert(name.clone()) {
                return name;
            }
            pass += 1;
        }
    }
    /// Claims a relation's name given in the statement. Errors: 42P07.
    pub(super) fn claim_relation(&mut self, context: &DdlContext, schema: &str, name: &str) -> Result<()> {
        if self.is_taken(context, schema, name) || !self.relations.insert(name.to_string()) {
            return Err(SqlError::new(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        Ok(())
    }
    /// A free name for a table's constraint.
    pub(super) fn constraint(&mut self, table: &TableDescriptor, column: Option<&str>, label: &str) -> String {
        let mut pass = 0_u32;
        loop {
            let label = if pass == 0 { label.to_string() } else { format!("{label}{pass}") };
            let name = object_name(&table.name, column, &label);
            if !has_constraint(table, &name) && self.constraints.insert(name.clone()) {
                return name;
            }
            pass += 1;
        }
    }
    /// Whether the statement itself used this name for a constraint.
    pub(super) fn has_constraint(&self, name: &str) -> bool {
        self.constraints.contains(name)
    }
    /// Claims a constraint's name given in the statement. Errors: 42710.
    pub(super) fn claim_constraint(&mut self, table: &TableDescriptor, name: &str) -> Result<()> {
        if has_constraint(table, name) || !self.constraints.insert(name.to_string()) {
            let message = format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(SqlError::new(state::DUPLICATE_OBJECT, message));
        }
        Ok(())
    }
}

/// Whether a table has a constraint of this name.
pub(super) fn has_constraint(table: &TableDescriptor, name: &str) -> bool {
    table.checks.iter().any(|check| check.name == name)
        || table.foreign_keys.iter().any(|key| key.name == name)
        || table.indexes.iter().any(|index| index.constraint.is_some() && index.name == name)
}

/// Errors: 42701 for the first name that occurs again later.
pub(super) fn no_column_twice<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
    let names: Vec<&str> = names.collect();
    let twice = names.iter().enumerate().find(|(at, name)| names.iter().skip(at + 1).any(|other| other == *name));
    twice.map_or(Ok(()), |(_, name)| {
        Err(SqlError::new(state::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")))
    })
}

/// Errors: 42701 for the name of a system column.
pub(super) fn no_system_column(name: &str) -> Result<()> {
    if !is_system_column(name) {
        return Ok(());
    }
    let message = format!("column name \"{name}\" conflicts with a system column name");
    Err(SqlError::new(state::DUPLICATE_COLUMN, message))
}

#[cfg(test)]
mod tests {
    use super::object_name;

    #[test]
    fn generated_names_are_cut_to_sixty_three_bytes() {
        assert_eq!(object_name("t", None, "pkey"), "t_pkey");
        assert_eq!(object_name("t", Some("a"), "key"), "t_a_key");
        let long = object_name(&"x".repeat(60), Some(&"y".repeat(60)), "key");
        assert_eq!(long.len(), 63);
        assert!(long.ends_with("y_key"));
        assert!(object_name(&"é".repeat(40), None, "pkey").len() <= 63);
    }
}
