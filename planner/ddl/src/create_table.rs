//! CREATE TABLE: columns, constraints, and the sequences of serial and identity columns.

use super::enumeration;
use super::names::Chosen;
use super::repeated_key::without_repeats;
use super::storage_parameter::{self, Of};
use super::type_name::serial_type;
use super::{DdlContext, canonical, constraint_places as places, evaluate, foreign_key, sequence};
use catalog::{
    CatalogWriter, CheckDescriptor, ColumnDescriptor, ColumnId, Deferral, Identity, IndexColumn, IndexDescriptor,
    IndexState, RelationKind, SchemaDescriptor, TableDescriptor,
};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{
    ColumnDef, ColumnOption, CreateTable, CreateTableOptions, Expr, ForeignKeyConstraint, GeneratedAs, Ident,
    NullsDistinctOption, Spanned, TableConstraint,
};
use std::collections::BTreeMap;
use syntax::{Parameters, fold, fold_plain};
use types::{BaseType, Oid, SqlType};

/// A table being created or altered: its descriptor, and the objects stored with it.
pub(super) struct Making<'a> {
    pub(super) context: &'a DdlContext,
    pub(super) writer: CatalogWriter<'a>,
    pub(super) schema: SchemaDescriptor,
    pub(super) table: TableDescriptor,
    pub(super) chosen: Chosen,
    /// The tables that new FOREIGN KEYs refer to, in their changed state.
    pub(super) parents: BTreeMap<Oid, TableDescriptor>,
    /// Constraints whose rows must be checked after the definitions are stored.
    pub(super) unvalidated: Vec<Oid>,
}

impl<'a> Making<'a> {
    /// Begins with a table as it was before the statement.
    pub(super) fn of(
        context: &'a DdlContext,
        schema: &SchemaDescriptor,
        table: TableDescriptor,
        chosen: Chosen,
    ) -> Self {
        Making {
            context,
            writer: context.writer(),
            schema: schema.clone(),
            table,
            chosen,
            parents: BTreeMap::new(),
            unvalidated: Vec::new(),
        }
    }
}

/// A column or table constraint.
pub(super) enum Constraint<'a> {
    Primary {
        name: Option<&'a Ident>,
        columns: Vec<String>,
        include: Vec<String>,
        deferred: Option<bool>,
        parameters: Parameters,
    },
    Unique {
        name: Option<&'a Ident>,
        columns: Vec<String>,
        include: Vec<String>,
        nulls_not_distinct: bool,
        deferred: Option<bool>,
        parameters: Parameters,
    },
    Check {
        name: Option<&'a Ident>,
        expr: &'a Expr,
        no_inherit: bool,
    },
    Foreign {
        name: Option<&'a Ident>,
        key: &'a ForeignKeyConstraint,
        column: Option<String>,
    },
}

pub(super) async fn execute(context: &DdlContext, create: &CreateTable) -> Result<String> {
    refuse(create)?;
    let at_name = |error| places::at_new_name(error, &create.name);
    let (schema, name) = context.new_relation_of(&create.name, context.clauses.temporary).map_err(at_name)?;
    if context.catalog.name_is_taken(&schema.name, &name) && create.if_not_exists {
        context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
        return Ok("CREATE TABLE".into());
    }
    let mut chosen = Chosen::default();
    chosen.claim_relation(context, &schema.name, &name)?;
    context.no_type_named(&schema.name, &name)?;
    if create.table_options != CreateTableOptions::None {
        return Err(SqlError::unsupported(create.table_options.to_string()));
    }
    let parameters = storage_parameter::of_new_table(&context.clauses.parameters)?;
    let (persistence, on_commit) = context.persistence(&schema, &context.clauses)?;
    context.store_schema(&schema).await?;
    let numbers = context.store.numbers();
    let table = TableDescriptor {
        oid: numbers.oid().await?,
        schema_oid: schema.oid,
        schema: schema.name.clone(),
        name,
        kind: RelationKind::Table,
        version: 1,
        storage_id: context.new_storage().await?,
        columns: Vec::new(),
        indexes: Vec::new(),
        checks: Vec::new(),
        sequence: None,
        view: None,
        foreign_keys: Vec::new(),
        comments: Vec::new(),
        owner: context.user,
        persistence,
        on_commit,
        acl: context.first_acl_in(catalog::acl::Kind::Table, &schema),
        parameters,
        ..Default::default()
    };
    let mut making = Making::of(context, &schema, table, chosen);
    let mut constraints = Vec::new();
    let mut taken = Vec::new();
    for position in 0..=create.columns.len() {
        for like in context.likes.iter().filter(|like| like.before == position) {
            taken.push(making.take_columns(like).await?);
        }
        if let Some(column) = create.columns.get(position) {
            let added = making.add_column(column).await;
            if added.as_ref().is_err_and(|error| error.state() == state::DUPLICATE_COLUMN) {
                // PostgreSQL reports the first duplicate name.
                let names = create.columns.iter().map(|column| fold(&column.name)).collect::<Vec<_>>();
                super::names::no_column_twice(names.iter().map(String::as_str))?;
            }
            constraints.extend(added?);
        }
    }
    for id in making.table.columns.iter().map(|column| column.id).collect::<Vec<_>>() {
        making.validate_generated(id).map_err(|error| places::in_generated(error, create))?;
    }
    for constraint in &create.constraints {
        constraints.push(table_constraint(constraint)?);
    }
    let constraints = without_repeats(constraints);
    making.add_constraints(&constraints).await?;
    for taken in &taken {
        making.take_rest(taken).await?;
    }
    making.add_foreign_keys(&constraints).await?;
    making.store().await?;
    Ok("CREATE TABLE".into())
}

/// Refuses clauses of CREATE TABLE that are not supported.
fn refuse(create: &CreateTable) -> Result<()> {
    let refused = [
        (create.or_replace, "CREATE OR REPLACE TABLE"),
        (create.query.is_some(), "CREATE TABLE AS"),
        (create.like.is_some(), "CREATE TABLE LIKE"),
        (create.inherits.is_some(), "INHERITS"),
        (create.partition_by.is_some(), "PARTITION BY"),
        (create.partition_of.is_some(), "PARTITION OF"),
        (create.external, "CREATE EXTERNAL TABLE"),
        (create.clone.is_some(), "CLONE"),
        (create.without_rowid, "WITHOUT ROWID"),
        (create.strict, "STRICT"),
        (create.order_by.is_some() || create.cluster_by.is_some() || create.primary_key.is_some(), "ORDER BY"),
        (create.comment.is_some(), "COMMENT in CREATE TABLE"),
        (create.dynamic || create.transient || create.volatile || create.iceberg, "this kind of table"),
    ];
    match refused.iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(SqlError::unsupported(what)),
        None => Ok(()),
    }
}

/// The columns of a constraint, which must be plain names.
fn column_names(columns: &[sqlparser::ast::IndexColumn]) -> Result<Vec<String>> {
    columns
        .iter()
        .map(|column| match &column.column.expr {
            Expr::Identifier(ident)
                if column.operator_class.is_none()
                    && column.column.options.sort.is_none()
                    && column.column.options.nulls_first.is_none() =>
            {
                Ok(fold(ident))
            }
            _ => Err(SqlError::syntax(format!("syntax error in the column list of a constraint: {}", column.column))),
        })
        .collect()
}

/// Converts a table constraint, and refuses unsupported ones.
pub(super) fn table_constraint(constraint: &TableConstraint) -> Result<Constraint<'_>> {
    match constraint {
        TableConstraint::PrimaryKey(primary) => Ok(Constraint::Primary {
            deferred: foreign_key::deferred(primary.characteristics.as_ref())?,
            name: primary.name.as_ref(),
            columns: column_names(&primary.columns)?,
            include: primary.include.iter().map(fold).collect(),
            parameters: storage_parameter::of_key(&primary.index_options)?,
        }),
        TableConstraint::Unique(unique) => Ok(Constraint::Unique {
            deferred: foreign_key::deferred(unique.characteristics.as_ref())?,
            nulls_not_distinct: matches!(unique.nulls_distinct, NullsDistinctOption::NotDistinct),
            name: unique.name.as_ref(),
            columns: column_names(&unique.columns)?,
            include: unique.include.iter().map(fold).collect(),
            parameters: storage_parameter::of_key(&unique.index_options)?,
        }),
        TableConstraint::Check(check) if check.enforced != Some(false) => {
            Ok(Constraint::Check { name: check.name.as_ref(), expr: &check.expr, no_inherit: check.no_inherit })
        }
        TableConstraint::Check(_) => Err(SqlError::unsupported("CHECK NOT ENFORCED")),
        TableConstraint::ForeignKey(key) => Ok(Constraint::Foreign { name: key.name.as_ref(), key, column: None }),
        other => Err(SqlError::unsupported(format!("the constraint {other}"))),
    }
}

impl Making<'_> {
    /// Adds a column. Returns its constraints, which are added once all columns exist.
    pub(super) async fn add_column<'c>(&mut self, definition: &'c ColumnDef) -> Result<Vec<Constraint<'c>>> {
        let name = fold_plain(&definition.name)?;
        if self.table.column_named(&name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        super::names::no_system_column(&name)?;
        let serial =
            serial_type(&definition.data_type).map_err(|error| places::at_type(error, definition.name.span))?;
        let path = self.context.settings.search_path();
        let named = || {
            let found = binder::catalog_type(&definition.data_type, &self.context.catalog, path, false);
            let found = found.map_err(|error| places::at_type(error, definition.name.span));
            found.map_err(|error| super::type_name::of_pseudo_type(error, &name, &definition.data_type))
        };
        let ty = serial.map_or_else(named, Ok)?;
        if let BaseType::Enum(labels) = ty.base {
            enumeration::may_use(self.context, labels.descriptor())?;
            self.writer.hold_enum(labels.descriptor().oid);
        }
        if ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        if ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let id = ColumnId::try_from(self.table.columns.len() + 1)
            .ok()
            .filter(|id| *id <= 1600)
            .ok_or_else(|| SqlError::new("54011", "tables can have at most 1600 columns"))?;
        let mut column = ColumnDescriptor {
            id,
            name: name.clone(),
            ty,
            not_null: serial.is_some(),
            dimensions: super::type_name::dimensions(&definition.data_type),
            ..Default::default()
        };
        let mut constraints = Vec::new();
        let (mut nullable, mut keyed) = (false, false);
        for option in &definition.options {
            let given = option.name.as_ref();
            match &option.option {
                ColumnOption::Null => nullable = true,
                ColumnOption::NotNull => column.not_null = true,
                ColumnOption::Default(expr) => {
                    if serial.is_some() || column.default.is_some() {
                        let error = sequence::second_default(&column, &self.table.name);
                        return Err(places::second_default(error, definition, &column, serial.is_some()));
                    }
                    column.default = self.default(&name, expr, &ty)?;
                }
                ColumnOption::PrimaryKey(primary) => {
                    keyed = true;
                    constraints.push(Constraint::Primary {
                        deferred: foreign_key::deferred(primary.characteristics.as_ref())?,
                        name: given.or(primary.name.as_ref()),
                        columns: vec![name.clone()],
                        include: Vec::new(),
                        parameters: Parameters::new(),
                    });
                }
                ColumnOption::Unique(unique) => {
                    constraints.push(Constraint::Unique {
                        deferred: foreign_key::deferred(unique.characteristics.as_ref())?,
                        nulls_not_distinct: self.context.clauses.nulls_not_distinct.contains(&name),
                        name: given.or(unique.name.as_ref()),
                        columns: vec![name.clone()],
                        include: Vec::new(),
                        parameters: Parameters::new(),
                    });
                }
                ColumnOption::Comment(text) => storage_parameter::of_column_key(text, constraints.last_mut())?,
                ColumnOption::Check(check) => {
                    if check.enforced == Some(false) {
                        return Err(SqlError::unsupported("CHECK NOT ENFORCED"));
                    }
                    constraints.push(Constraint::Check {
                        name: given.or(check.name.as_ref()),
                        expr: &check.expr,
                        no_inherit: check.no_inherit,
                    });
                }
                ColumnOption::Generated { generation_expr: Some(expr), generation_expr_mode, generated_as, .. } => {
                    if *generated_as == GeneratedAs::ByDefault {
                        let message = "for a generated column, GENERATED ALWAYS must be specified";
                        return Err(SqlError::syntax(message));
                    }
                    if *generation_expr_mode != Some(sqlparser::ast::GeneratedExpressionMode::Stored) {
                        return Err(SqlError::syntax("syntax error: a generated column is STORED"));
                    }
                    if column.generated.is_some() {
                        let message = format!(
                            "multiple generation clauses specified for column \"{name}\" of table \"{}\"",
                            self.table.name
                        );
                        return Err(SqlError::syntax(message));
                    }
                    canonical::referenced(expr).map_err(|_| {
                        let message = "cannot use subquery in column generation expression";
                        canonical::about_subquery(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), expr)
                    })?;
                    column.generated = Some(canonical::text(&enumeration::with_schemas(self.context, expr)));
                }
                ColumnOption::Generated { generated_as, sequence_options, generation_expr: None, .. } => {
                    sequence::only_identity(&column, serial.is_some(), &self.table.name)
                        .map_err(|error| places::second_identity(error, definition, &column, serial.is_some()))?;
                    column.identity = Some(match generated_as {
                        GeneratedAs::Always => Identity::Always,
                        GeneratedAs::ByDefault => Identity::ByDefault,
                        GeneratedAs::ExpStored => return Err(SqlError::unsupported("GENERATED … STORED")),
                    });
                    column.not_null = true;
                    if !ty.is_integer() {
                        return Err(invalid("identity column type must be smallint, integer, or bigint"));
                    }
                    let options = sequence_options.as_deref().unwrap_or_default();
                    let names = &self.context.clauses.sequence_names;
                    let given = names.iter().find(|(column, _)| *column == name).map(|(_, given)| given);
                    column.default = Some(self.own_sequence(&name, id, ty, given, options).await?);
                }
                ColumnOption::ForeignKey(key) => constraints.push(Constraint::Foreign {
                    name: given.or(key.name.as_ref()),
                    key,
                    column: Some(name.clone()),
                }),
                ColumnOption::Collation(collation) => {
                    column.collation =
                        super::type_name::collation(collation, ty).map_err(|error| error.about("collate"))?;
                }
                other => return Err(SqlError::unsupported(format!("the column option {other}"))),
            }
        }
        if nullable && column.not_null {
            return Err(places::conflicting_nulls(definition, &name, &self.table.name));
        }
        // In PostgreSQL NULL does not contradict PRIMARY KEY.
        column.not_null |= keyed;
        if column.generated.is_some() && (column.default.is_some() || column.identity.is_some() || serial.is_some()) {
            return Err(places::also_generated(definition, &column, &self.table.name));
        }
        if let Some(ty) = serial {
            column.default = Some(self.own_sequence(&name, id, ty, None, &[]).await?);
        }
        self.table.columns.push(column);
        Ok(constraints)
    }

    /// Creates the sequence of a column. Returns the column's default.
    pub(super) async fn own_sequence(
        &mut self,
        column: &str,
        id: ColumnId,
        ty: SqlType,
        given: Option<&sqlparser::ast::ObjectName>,
        options: &[sqlparser::ast::SequenceOptions],
    ) -> Result<String> {
        let mut parameters = sequence::parameters(ty, options)?;
        parameters.owned_by = Some((self.table.oid, id));
        let (schema, name) = match given {
            None => {
                let name = self.chosen.relation(self.context, &self.schema.name, &self.table.name, Some(column), "seq");
                (self.schema.clone(), name)
            }
            Some(given) => {
                let (schema, name) = syntax::fold_name(given)?;
                let schema = match schema {
                    Some(schema) => SchemaDescriptor::clone(&*self.context.schema(&schema)?),
                    None => self.schema.clone(),
                };
                self.chosen.claim_relation(self.context, &schema.name, &name)?;
                (schema, name)
            }
        };
        let text = canonical::next_value_text(&schema.name, &name);
        let persistence = self.table.persistence;
        sequence::store(self.context, &mut self.writer, &schema, name, parameters, persistence).await?;
        Ok(text)
    }

    /// Stores the table and the tables that its new FOREIGN KEYs refer to.
    pub(super) async fn store(&mut self) -> Result<()> {
        self.writer.put_table(&self.table).await?;
        for parent in self.parents.values() {
            self.writer.put_table(parent).await?;
        }
        self.writer.flush().await
    }

    /// Adds the FOREIGN KEYs among `constraints` to a table without rows.
    async fn add_foreign_keys(&mut self, constraints: &[Constraint<'_>]) -> Result<()> {
        for constraint in constraints {
            if let Constraint::Foreign { name, key, column } = constraint {
                let key = self.foreign_key(*name, key, column.as_deref()).await?;
                self.table.foreign_keys.push(key);
            }
        }
        Ok(())
    }

    /// 42P16: the table already has a primary key.
    pub(super) fn another_key(&self) -> SqlError {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", self.table.name);
        SqlError::new(state::INVALID_TABLE_DEFINITION, message)
    }

    /// Adds the constraints other than FOREIGN KEYs, primary key first.
    pub(super) async fn add_constraints(&mut self, constraints: &[Constraint<'_>]) -> Result<()> {
        for constraint in constraints {
            if let Constraint::Primary { name, columns, include, deferred, parameters } = constraint {
                if self.table.declared_primary_key().is_some() {
                    return Err(places::second_key(self.another_key(), *name));
                }
                let index = self.constraint_index(*name, columns, include, true, *deferred, parameters).await?;
                for key in &index.columns {
                    if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == key.column) {
                        column.not_null = true;
                    }
                }
                let place = if index.primary { 0 } else { self.table.indexes.len() };
                self.table.indexes.insert(place, index);
            }
        }
        for constraint in constraints {
            match constraint {
                Constraint::Primary { .. } | Constraint::Foreign { .. } => {}
                Constraint::Unique { name, columns, include, nulls_not_distinct, deferred, parameters } => {
                    let mut index =
                        self.constraint_index(*name, columns, include, false, *deferred, parameters).await?;
                    index.nulls_not_distinct = *nulls_not_distinct;
                    self.table.indexes.push(index);
                }
                Constraint::Check { name, expr, no_inherit } => {
                    let check = self.check(*name, expr, *no_inherit).await?;
                    self.table.checks.push(check);
                }
            }
        }
        Ok(())
    }

    /// Adds a CHECK constraint.
    pub(super) async fn check(
        &mut self,
        name: Option<&Ident>,
        expr: &Expr,
        no_inherit: bool,
    ) -> Result<CheckDescriptor> {
        let expression = canonical::check_text(&enumeration::with_schemas(self.context, expr), &self.table)?;
        let fixed = evaluate::validate_check_text(self.context, &self.table, &expression).map_err(|error| {
            if error.state() == state::DATATYPE_MISMATCH && error.fields().about.is_none() {
                return error.about_part(expr.span());
            }
            error
        })?;
        let expression = fixed.unwrap_or(expression);
        let name = match name {
            Some(name) => {
                let name = fold(name);
                let twice = self.table.checks.iter().any(|check| check.name == name);
                if twice && self.chosen.has_constraint(&name) {
                    let message = format!("check constraint \"{name}\" already exists");
                    return Err(SqlError::new(state::DUPLICATE_OBJECT, message));
                }
                self.chosen.claim_constraint(&self.table, &name)?;
                name
            }
            None => {
                // A CHECK over a single column is named after it, wherever it was written.
                let mut columns = canonical::referenced(expr)?;
                columns.sort_unstable();
                columns.dedup();
                let only = if columns.len() == 1 { columns.first().map(String::as_str) } else { None };
                self.chosen.constraint(&self.table, only, "check")
            }
        };
        Ok(CheckDescriptor {
            oid: self.context.store.numbers().oid().await?,
            name,
            expression,
            not_valid: false,
            no_inherit,
        })
    }

    /// Makes the index of a PRIMARY KEY or UNIQUE constraint.
    pub(super) async fn constraint_index(
        &mut self,
        name: Option<&Ident>,
        columns: &[String],
        include: &[String],
        primary: bool,
        deferred: Option<bool>,
        parameters: &Parameters,
    ) -> Result<IndexDescriptor> {
        let what = if primary { "primary key" } else { "unique" };
        let at_constraint = |error| places::at_key(error, name, primary);
        let keys = self.key_columns(columns, what).map_err(at_constraint)?;
        for key in &keys {
            super::create_index::ordered(self.table.column(*key).map_or(SqlType::TEXT, |column| column.ty))?;
        }
        let include = self.key_columns(include, what).map_err(at_constraint)?;
        super::create_index::at_most(keys.len() + include.len())?;
        let name = match name {
            Some(name) => {
                let name = fold(name);
                self.chosen.claim_relation(self.context, &self.schema.name, &name)?;
                self.chosen.claim_constraint(&self.table, &name)?;
                name
            }
            None => {
                let included =
                    include.iter().filter_map(|id| self.table.column(*id)).map(|column| column.name.as_str());
                let joined = columns.iter().map(String::as_str).chain(included).collect::<Vec<_>>().join("_");
                let (column, label) = if primary { (None, "pkey") } else { (Some(joined.as_str()), "key") };
                self.chosen.relation(self.context, &self.schema.name, &self.table.name, column, label)
            }
        };
        let mut stored = Vec::new();
        storage_parameter::set(Of::Index, &mut stored, parameters)?;
        let numbers = self.context.store.numbers();
        let keyed = primary && deferred.is_none();
        let storage_id = if keyed { self.table.storage_id } else { self.context.new_storage().await? };
        Ok(IndexDescriptor {
            oid: numbers.oid().await?,
            name,
            storage_id,
            columns: keys.into_iter().map(|column| IndexColumn { column, ..Default::default() }).collect(),
            include,
            unique: deferred.is_none(),
            primary: keyed,
            deferral: deferred.map(|deferred| Deferral { deferred, primary }),
            constraint: Some(numbers.oid().await?),
            state: IndexState::Public,
            parameters: stored,
            ..Default::default()
        })
    }

    fn key_columns(&self, names: &[String], what: &str) -> Result<Vec<ColumnId>> {
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            let column = self.table.column_named(name).ok_or_else(|| {
                SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" named in key does not exist"))
            })?;
            if ids.contains(&column.id) {
                let message = format!("column \"{name}\" appears twice in {what} constraint");
                return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
            }
            ids.push(column.id);
        }
        Ok(ids)
    }
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}
