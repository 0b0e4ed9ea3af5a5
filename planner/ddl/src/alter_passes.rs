//! The order in which the parts of an ALTER TABLE run. It is PostgreSQL's, not that of the text. Drops come first, then
//! changes of types, new columns, and last the properties of columns and rows.

use super::create_table::{Constraint, Making};
use sql_error::Result;
use syntax::ast::{AlterColumn, AlterTableAction, AlterTableKind, ColumnConstraintKind, TableConstraintKind};

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

    fn of(action: &AlterTableKind) -> Self {
        match action {
            AlterTableKind::DropColumn { .. } | AlterTableKind::DropConstraint { .. } => Pass::Drop,
            AlterTableKind::AddColumn { .. } => Pass::AddColumn,
            AlterTableKind::AddConstraint(constraint) => match constraint.kind {
                TableConstraintKind::PrimaryKey(..)
                | TableConstraintKind::Unique(..)
                | TableConstraintKind::UsingIndex(..) => Pass::Index,
                _ => Pass::Constraint,
            },
            AlterTableKind::AlterColumn(_, change) => Pass::of_column(change),
            _ => Pass::Other,
        }
    }

    fn of_column(change: &AlterColumn) -> Self {
        match change {
            AlterColumn::DropDefault
            | AlterColumn::DropNotNull
            | AlterColumn::DropExpression(_)
            | AlterColumn::DropIdentity(_) => Pass::Drop,
            AlterColumn::Type { .. } => Pass::Type,
            AlterColumn::SetNotNull => Pass::Column,
            AlterColumn::SetDefault(_) | AlterColumn::AddIdentity { .. } => Pass::Constraint,
            // A property of an identity is set after the identity exists.
            AlterColumn::SetIdentity { .. }
            | AlterColumn::SetStatistics(_)
            | AlterColumn::SetOptions(_)
            | AlterColumn::ResetOptions(_)
            | AlterColumn::SetStorage(_)
            | AlterColumn::SetCompression(_) => Pass::Other,
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
fn says_more(action: &AlterTableKind) -> bool {
    use ColumnConstraintKind::{Check, PrimaryKey, References, Unique};
    let AlterTableKind::AddColumn { column, .. } = action else { return false };
    let later = |kind: &ColumnConstraintKind| matches!(kind, PrimaryKey(_) | Unique(_) | Check { .. } | References(_));
    column.constraints.iter().any(|constraint| later(&constraint.kind))
}

impl Making<'_> {
    /// Runs all actions, pass by pass.
    pub(super) async fn alter_by_passes(&mut self, actions: &[AlterTableAction]) -> Result<()> {
        // Expressions that convert values to a new type see the table as it was before the statement.
        let before = self.table.clone();
        let mut retyped = Vec::new();
        for action in actions.iter().filter(|action| Pass::of(&action.kind) == Pass::Type) {
            retyped.push(self.retyped(&retyped, &action.kind)?);
        }
        let mut of_columns: Vec<(usize, Constraint<'_>)> = Vec::new();
        for pass in Pass::ALL {
            if pass == Pass::Type {
                if !retyped.is_empty() {
                    self.change_types(&before, &retyped).await?;
                }
                continue;
            }
            for (at, action) in actions.iter().enumerate() {
                if pass == Pass::of(&action.kind) {
                    match &action.kind {
                        AlterTableKind::AddColumn { if_not_exists, column } => {
                            let constraints = self.add_column_to_existing(*if_not_exists, column).await?;
                            of_columns.extend(constraints.into_iter().map(|constraint| (at, constraint)));
                        }
                        kind => self.act(kind).await?,
                    }
                }
                if matches!(pass, Pass::Index | Pass::Constraint) && says_more(&action.kind) {
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
