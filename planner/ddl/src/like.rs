//! LIKE in CREATE TABLE: copies the columns of another table, and the properties listed in INCLUDING.

use super::create_table::Making;
use super::sequence;
use binder::canonical;
use catalog::acl::SELECT;
use catalog::{
    CheckDescriptor, ColumnDescriptor, ColumnId, CommentOf, IndexColumn, IndexDescriptor, IndexState, RelationKind,
    TableDescriptor,
};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{Like, LikeOption};

/// The source table of a LIKE, and the mapping of its columns.
pub(super) struct Taken<'l> {
    like: &'l Like,
    source: Arc<TableDescriptor>,
    columns: Vec<(ColumnId, ColumnId)>,
}

/// Whether a property is copied: the last word about it counts.
fn copies(like: &Like, property: LikeOption) -> bool {
    let about = |(option, _): &&(LikeOption, bool)| *option == property || *option == LikeOption::All;
    like.options.iter().rfind(about).is_some_and(|(_, including)| *including)
}

impl Taken<'_> {
    fn new_id(&self, old: ColumnId) -> Option<ColumnId> {
        self.columns.iter().find(|(from, _)| *from == old).map(|(_, to)| *to)
    }
}

impl Making<'_> {
    /// Copies the columns. Errors: 42P01, 42701, 42501, 42809 for a sequence.
    pub(super) async fn take_columns<'l>(&mut self, like: &'l Like) -> Result<Taken<'l>> {
        let Some(source) = self.context.find(&like.table)? else {
            return Err(self.context.no_relation(&like.table).about_part(like.table.span));
        };
        if source.kind == RelationKind::Sequence {
            let message = format!("relation \"{}\" is invalid in LIKE clause", source.name);
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message)
                .detail("This operation is not supported for sequences.")
                .about_part(like.table.span));
        }
        if source.kind != RelationKind::SystemView {
            self.context.may(&source, SELECT)?;
        }
        let mut columns = Vec::new();
        for column in source.live_columns() {
            if self.table.column_named(&column.name).is_some() {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
            }
            let id = ColumnId::try_from(self.table.columns.len() + 1)
                .ok()
                .filter(|id| *id <= 1600)
                .ok_or_else(|| SqlError::new("54011", "tables can have at most 1600 columns"))?;
            let default = match (&column.default, column.identity) {
                (Some(default), None) if copies(like, LikeOption::Defaults) => {
                    Some(self.next_value(default)?.unwrap_or_else(|| default.clone()))
                }
                _ => None,
            };
            let mut taken = ColumnDescriptor {
                id,
                name: column.name.clone(),
                ty: column.ty,
                not_null: column.not_null,
                default,
                identity: None,
                missing: None,
                dropped: false,
                acl: Vec::new(),
                generated: column.generated.clone().filter(|_| copies(like, LikeOption::Generated)),
                // INCLUDING STATISTICS means extended statistics, which do not exist here.
                statistics: None,
                storage: column.storage.clone().filter(|_| copies(like, LikeOption::Storage)),
                // PostgreSQL does not copy them.
                dimensions: 0,
                collation: column.collation.clone(),
                parameters: Vec::new(),
            };
            if let (Some(identity), true) = (column.identity, copies(like, LikeOption::Identity)) {
                let owned = self.context.catalog.owned_sequence(source.oid, column.id);
                if let Some(mut parameters) = owned.and_then(|sequence| sequence.sequence.clone()) {
                    parameters.owned_by = Some((self.table.oid, id));
                    let (schema, table) = (self.schema.name.clone(), self.table.name.clone());
                    let name = self.chosen.relation(self.context, &schema, &table, Some(&column.name), "seq");
                    taken.identity = Some(identity);
                    taken.default = Some(canonical::next_value_text(&schema, &name));
                    let persistence = self.table.persistence;
                    sequence::store(self.context, &mut self.writer, &self.schema, name, parameters, persistence)
                        .await?;
                }
            }
            columns.push((column.id, id));
            self.table.columns.push(taken);
        }
        Ok(Taken { like, source, columns })
    }

    /// Copies the properties listed in INCLUDING, once all columns exist.
    pub(super) async fn take_rest(&mut self, taken: &Taken<'_>) -> Result<()> {
        let (like, source) = (taken.like, &taken.source);
        let with_comments = copies(like, LikeOption::Comments);
        let mut comments = Vec::new();
        if with_comments {
            for (of, text) in &source.comments {
                if let CommentOf::Column(id) = of
                    && let Some(id) = taken.new_id(*id)
                {
                    comments.push((CommentOf::Column(id), text.clone()));
                }
            }
        }
        let commented = |of: CommentOf| {
            let found = source.comments.iter().find(|(other, _)| *other == of);
            found.filter(|_| with_comments).map(|(_, text)| text.clone())
        };
        if copies(like, LikeOption::Constraints) {
            for check in &source.checks {
                self.chosen.claim_constraint(&self.table, &check.name)?;
                let oid = self.context.store.numbers().oid().await?;
                if let Some(text) = commented(CommentOf::Constraint(check.oid)) {
                    comments.push((CommentOf::Constraint(oid), text));
                }
                let (name, expression) = (check.name.clone(), check.expression.clone());
                self.table.checks.push(CheckDescriptor { oid, name, expression, not_valid: false, no_inherit: false });
            }
        }
        if copies(like, LikeOption::Indexes) {
            for index in source.indexes.iter().filter(|index| index.state == IndexState::Public) {
                let made = self.take_index(taken, index).await?;
                if let Some(text) = commented(CommentOf::Index(index.oid)) {
                    comments.push((CommentOf::Index(made.oid), text));
                }
                if let (Some(old), Some(new)) = (index.constraint, made.constraint)
                    && let Some(text) = commented(CommentOf::Constraint(old))
                {
                    comments.push((CommentOf::Constraint(new), text));
                }
                let place = if made.primary { 0 } else { self.table.indexes.len() };
                self.table.indexes.insert(place, made);
            }
        }
        self.table.comments.extend(comments);
        Ok(())
    }

    /// A copy of an index with a generated name.
    async fn take_index(&mut self, taken: &Taken<'_>, index: &IndexDescriptor) -> Result<IndexDescriptor> {
        if index.is_declared_primary() && self.table.declared_primary_key().is_some() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", self.table.name);
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let lost = || SqlError::internal("an index over a column that is not there");
        let mut columns = Vec::new();
        let mut joined = Vec::new();
        for (key, expression) in index.parts() {
            let (column, name) = match expression {
                Some(expression) => (0, expression.name.clone()),
                None => {
                    let column = taken.new_id(key.column).ok_or_else(lost)?;
                    (column, self.table.column(column).ok_or_else(lost)?.name.clone())
                }
            };
            joined.push(name);
            columns.push(IndexColumn { column, ..*key });
        }
        let include = index.include.iter().map(|id| taken.new_id(*id).ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
        for id in &include {
            joined.push(self.table.column(*id).ok_or_else(lost)?.name.clone());
        }
        let joined = pg_catalog::describe::each_once(joined.iter().map(String::as_str)).join("_");
        let (column, label) = match (index.is_declared_primary(), index.constraint) {
            (true, _) => (None, "pkey"),
            (false, Some(_)) => (Some(joined.as_str()), "key"),
            (false, None) => (Some(joined.as_str()), "idx"),
        };
        let (schema, table) = (self.schema.name.clone(), self.table.name.clone());
        let name = self.chosen.relation(self.context, &schema, &table, column, label);
        let numbers = self.context.store.numbers();
        let storage_id = if index.primary { self.table.storage_id } else { numbers.storage_id().await? };
        let constraint = match index.constraint {
            Some(_) => Some(numbers.oid().await?),
            None => None,
        };
        Ok(IndexDescriptor {
            oid: numbers.oid().await?,
            name,
            storage_id,
            columns,
            include,
            constraint,
            ..index.clone()
        })
    }
}
