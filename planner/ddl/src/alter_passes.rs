//! The order in which the parts of an ALTER TABLE run. It is PostgreSQL's, not that of the text. Drops come first, then
//! changes of types, new columns, and last the properties of columns and rows.

use super::create_table::{Constraint, Making};
use sql_error::Result;
use sqlparser::ast::{AlterColumnOperation, AlterTableOperation, ColumnOption, TableConstraint};
use syntax::AlterAction;

/// One part of an ALTER TABLE, from our parser or from sqlparser.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    /// An action of our parser.
    Own(&'a AlterAction),
    /// An action of sqlparser.
    Sql(&'a AlterTableOperation),
}

impl<'a> Part<'a> {
    /// Wraps an action of our parser, which may stand for one of sqlparser's.
    pub(super) fn of(action: &'a AlterAction) -> Self {
        match action {
            AlterAction::Sql(operation) => Part::Sql(operation),
            own => Part::Own(own),
        }
    }
}

/// The pass in which a part runs. All parts of one pass run before the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Drop,
    Type,
    AddColumn,
    Column,
    Index,
    Constraint,
    Other,
}

impl Pass {
    const ALL: [Pass; 7] =
        [Pass::Drop, Pass::Type, Pass::AddColumn, Pass::Column, Pass::Index, Pass::Constraint, Pass::Other];

    fn of(part: Part<'_>) -> Self {
        match part {
            Part::Own(action) => Pass::of_action(action),
            Part::Sql(operation) => Pass::of_operation(operation),
        }
    }

    fn of_action(action: &AlterAction) -> Self {
        match action {
            AlterAction::SetType { .. } => Pass::Type,
            AlterAction::DropExpression(..) | AlterAction::DropIdentity(..) => Pass::Drop,
            AlterAction::AddUsingIndex { .. } => Pass::Index,
            AlterAction::AddIdentity { .. } => Pass::Constraint,
            // ChangeIdentity too: a property of an identity is set after the identity exists.
            _ => Pass::Other,
        }
    }

    fn of_operation(operation: &AlterTableOperation) -> Self {
        match operation {
            AlterTableOperation::DropColumn { .. } | AlterTableOperation::DropConstraint { .. } => Pass::Drop,
            AlterTableOperation::AddColumn { .. } => Pass::AddColumn,
            AlterTableOperation::AddConstraint { constraint, .. } => match constraint {
                TableConstraint::PrimaryKey(_) | TableConstraint::Unique(_) => Pass::Index,
                _ => Pass::Constraint,
            },
            AlterTableOperation::AlterColumn { op, .. } => match op {
                AlterColumnOperation::DropDefault | AlterColumnOperation::DropNotNull => Pass::Drop,
                AlterColumnOperation::SetDataType { .. } => Pass::Type,
                AlterColumnOperation::SetNotNull => Pass::Column,
                _ => Pass::Constraint,
            },
            _ => Pass::Other,
        }
    }

    /// The pass of a constraint that was written with its new column.
    fn of_constraint(constraint: &Constraint<'_>) -> Self {
        match constraint {
            Constraint::Primary { .. } | Constraint::Unique { .. } => Pass::Index,
            Constraint::Check { .. } | Constraint::Foreign { .. } => Pass::Constraint,
        }
    }
}

/// Whether a new column has properties that a later pass sets.
fn says_more(part: Part<'_>) -> bool {
    let Part::Sql(AlterTableOperation::AddColumn { column_def, .. }) = part else { return false };
    column_def.options.iter().any(|option| {
        matches!(
            option.option,
            ColumnOption::PrimaryKey(_)
                | ColumnOption::Unique(_)
                | ColumnOption::Check(_)
                | ColumnOption::ForeignKey(_)
        )
    })
}

impl Making<'_> {
    /// Runs all parts, pass by pass.
    pub(super) async fn alter_by_passes(&mut self, parts: &[Part<'_>]) -> Result<()> {
        // Expressions that convert values to a new type see the table as it was before the statement.
        let before = self.table.clone();
        let mut retyped = Vec::new();
        for part in parts.iter().filter(|part| Pass::of(**part) == Pass::Type) {
            retyped.push(self.retyped(&retyped, *part)?);
        }
        let mut of_columns: Vec<(usize, Constraint<'_>)> = Vec::new();
        for pass in Pass::ALL {
            if pass == Pass::Type {
                if !retyped.is_empty() {
                    self.change_types(&before, &retyped).await?;
                }
                continue;
            }
            for (at, part) in parts.iter().copied().enumerate() {
                if pass == Pass::of(part) {
                    match part {
                        Part::Sql(AlterTableOperation::AddColumn {
                            if_not_exists,
                            column_def,
                            column_position: None,
                            ..
                        }) => {
                            let constraints = self.add_column_to_existing(*if_not_exists, column_def).await?;
                            of_columns.extend(constraints.into_iter().map(|constraint| (at, constraint)));
                        }
                        Part::Sql(operation) => self.alter(operation).await?,
                        Part::Own(action) => self.act(action).await?,
                    }
                }
                if matches!(pass, Pass::Index | Pass::Constraint) && says_more(part) {
                    let of_pass = |of: &(usize, Constraint<'_>)| of.0 == at && Pass::of_constraint(&of.1) == pass;
                    for (_, constraint) in of_columns.iter().filter(|of| of_pass(of)) {
                        self.add_to_existing(std::slice::from_ref(constraint), false).await?;
                    }
                }
            }
        }
        Ok(())
    }
}
