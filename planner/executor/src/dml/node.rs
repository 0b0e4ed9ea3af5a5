//! The logical nodes of INSERT, UPDATE, DELETE and SELECT … FOR UPDATE.
//!
//! Checks and DO UPDATE have expressions over schemas of their own, not over the node's input. They are hidden from
//! DataFusion's optimizer. The extension planner converts them to physical expressions.

use super::computed::Rules;
use catalog::{ColumnId, TableDescriptor};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef, Result, TableReference, plan_err};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use txn::LockStrength;
use types::Oid;

/// The action of INSERT for a row whose key exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// DO NOTHING, for one unique index or for all.
    DoNothing {
        /// OID of the index. `None` for any.
        arbiter: Option<Oid>,
    },
    /// DO UPDATE, with expressions over [`conflict_schema`].
    DoUpdate {
        /// OID of the unique index.
        arbiter: Oid,
        /// Assigned columns and their new values.
        set: Vec<(ColumnId, Expr)>,
        /// The condition of WHERE. Rows for which it is not true stay unchanged.
        filter: Option<Expr>,
    },
}

/// INSERT. The input has one column per live column, in order and in the column's Arrow type.
#[derive(Clone, Debug)]
pub struct InsertNode {
    /// The table to insert into.
    pub table: Arc<TableDescriptor>,
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// The ON CONFLICT clause, if any.
    pub on_conflict: Option<OnConflict>,
    /// Constraints and computed expressions over [`table_schema`], qualified by the table's name.
    pub rules: Rules,
    /// Whether it returns the rows rather than their number.
    pub returning: bool,
    /// The table's name or alias.
    pub qualifier: TableReference,
    /// Scalar subqueries of ON CONFLICT, which are uncorrelated. Its expressions contain an `OnConflict::subquery`
    /// placeholder for each.
    pub subqueries: Vec<Expr>,
    /// For subqueries of DO UPDATE that read its rows: the statement part that holds the rows, and a plan. The plan
    /// returns the number and new values of each row that WHERE keeps. DO UPDATE itself then has no expressions.
    pub rows: Option<(usize, LogicalPlan)>,
    /// The columns to which the statement gives values. Error details may show them.
    pub given: Vec<ColumnId>,
    schema: DFSchemaRef,
}

/// Name of the additional column that INSERT … ON CONFLICT DO UPDATE returns. It is the transaction's number if the row
/// was updated, and 0 if it was inserted.
pub const UPDATED_BY: &str = "\0updated by";

/// Prefix of the placeholders for subqueries of ON CONFLICT. The position follows it.
const SUBQUERY: &str = "$?";

impl OnConflict {
    /// Replaces the scalar subqueries in the expressions by placeholders and returns them.
    pub fn take_subqueries(&mut self) -> Result<Vec<Expr>> {
        let mut taken: Vec<Expr> = Vec::new();
        let OnConflict::DoUpdate { set, filter, .. } = self else { return Ok(taken) };
        for expr in set.iter_mut().map(|(_, expr)| expr).chain(filter) {
            let replaced = std::mem::take(expr).transform_down(|inner| {
                let Expr::ScalarSubquery(subquery) = &inner else { return Ok(Transformed::no(inner)) };
                let field = Arc::clone(subquery.subquery.schema().field(0));
                let id = format!("{SUBQUERY}{}", taken.len());
                taken.push(inner);
                let stand_in = Expr::Placeholder(Placeholder::new_with_field(id, Some(field)));
                Ok(Transformed::new(stand_in, true, TreeNodeRecursion::Jump))
            })?;
            *expr = replaced.data;
        }
        Ok(taken)
    }
    /// Replaces the placeholders in an expression by the subqueries.
    pub fn with_subqueries(expr: Expr, subqueries: &[Expr]) -> Result<Expr> {
        let replaced = expr.transform_up(|inner| {
            let Expr::Placeholder(placeholder) = &inner else { return Ok(Transformed::no(inner)) };
            let place = placeholder.id.strip_prefix(SUBQUERY).and_then(|place| place.parse::<usize>().ok());
            match place.and_then(|place| subqueries.get(place)) {
                Some(subquery) => Ok(Transformed::yes(subquery.clone())),
                None => Ok(Transformed::no(inner)),
            }
        })?;
        Ok(replaced.data)
    }
}

/// UPDATE. The input is: row key, old live columns, one new value per assigned column, then the columns that RETURNING
/// needs.
#[derive(Clone, Debug)]
pub struct UpdateNode {
    /// The table to update.
    pub table: Arc<TableDescriptor>,
    /// The name under which the input scans the table. `None` if that is unknown.
    pub target: Option<TableReference>,
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// Assigned columns, in the order of their values in the input.
    pub assigned: Vec<ColumnId>,
    /// Constraints and computed expressions over [`table_schema`], qualified by the table's name.
    pub rules: Rules,
    /// Whether it returns the rows rather than their number.
    pub returning: bool,
    schema: DFSchemaRef,
}

/// DELETE. The input is: row key, old live columns, then the columns that RETURNING needs.
#[derive(Clone, Debug)]
pub struct DeleteNode {
    /// The table to delete from.
    pub table: Arc<TableDescriptor>,
    /// The name under which the input scans the table. `None` if that is unknown.
    pub target: Option<TableReference>,
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// Computed expressions over [`table_schema`], qualified by the table's name.
    pub rules: Rules,
    /// Whether it returns the rows rather than their number.
    pub returning: bool,
    schema: DFSchemaRef,
}

/// The action of a WHEN clause of MERGE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MergeAction {
    /// UPDATE that assigns these columns.
    Update(Vec<ColumnId>),
    /// DELETE the target row.
    Delete,
    /// INSERT a new row.
    Insert,
    /// DO NOTHING with the row.
    Nothing,
}

/// MERGE. The input is: row key (NULL without a target row), old live columns, number of the action (NULL for none),
/// one value per live column, then the columns of the source.
#[derive(Clone, Debug)]
pub struct MergeNode {
    /// The target table of MERGE.
    pub table: Arc<TableDescriptor>,
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// The actions, by number.
    pub actions: Vec<MergeAction>,
    /// Constraints and computed expressions over [`table_schema`], qualified by the table's name.
    pub rules: Rules,
    /// How to recheck rows that changed while their lock was awaited.
    pub again: MergeAgain,
    schema: DFSchemaRef,
}

/// The recheck of MERGE: source rows, each with the newest version of the target row that it matched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MergeAgain {
    /// The statement part that holds these rows: columns of the source, then row key and live columns.
    pub part: usize,
    /// The plan over these rows, with the columns of [`MergeNode`]'s input.
    pub plan: LogicalPlan,
}

/// FOR UPDATE and similar clauses: locks the rows that pass. The output equals the input.
#[derive(Clone, Debug)]
pub struct LockRowsNode {
    /// The tables whose rows are locked.
    pub tables: Vec<LockedTable>,
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// OFFSET above this node, an int8 without columns. No more rows are locked than are taken.
    pub skip: Option<Expr>,
    /// LIMIT above this node, an int8 without columns. All rows are taken if it is NULL or `None`.
    pub fetch: Option<Expr>,
}

/// A table whose rows are locked.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// Descriptor of the table.
    pub table: Arc<TableDescriptor>,
    /// The name under which the plan scans it.
    pub name: TableReference,
    /// Position of the row key in the input. NULL, where an outer join found no row, is not locked.
    pub key_column: usize,
    /// Strength of the lock.
    pub strength: LockStrength,
    /// The action for rows that others have locked.
    pub wait: RowWait,
}

impl LockedTable {
    fn key(&self) -> (Oid, u64, &TableReference, usize, LockStrength, RowWait) {
        (self.table.oid, self.table.version, &self.name, self.key_column, self.strength, self.wait)
    }
}

/// The action for a row that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowWait {
    /// Wait for the lock.
    Block,
    /// Skip the row: SKIP LOCKED.
    Skip,
    /// Fail at once: NOWAIT.
    Error,
}

/// The table's live columns, all nullable, under a qualifier. Checks are over it, qualified by the table's name. So is
/// the output of INSERT … RETURNING, qualified by the alias.
pub fn table_schema(table: &TableDescriptor, qualifier: &TableReference) -> Result<DFSchema> {
    DFSchema::new_with_metadata(qualified_columns(table, qualifier), HashMap::new())
}

/// The schema of DO UPDATE's expressions. It has the live columns qualified by `target` (the table's name or alias),
/// then again qualified by [`excluded`].
pub fn conflict_schema(table: &TableDescriptor, target: &TableReference) -> Result<DFSchema> {
    let mut fields = qualified_columns(table, target);
    fields.extend(qualified_columns(table, &excluded(target)));
    DFSchema::new_with_metadata(fields, HashMap::new())
}

/// The qualifier of the row proposed for insertion. It differs from the target's name, even if that is `excluded`.
pub fn excluded(target: &TableReference) -> TableReference {
    let name = "excluded";
    TableReference::bare(if target.table() == name { "proposed" } else { name })
}

fn qualified_columns(table: &TableDescriptor, qualifier: &TableReference) -> Vec<(Option<TableReference>, FieldRef)> {
    table
        .live_columns()
        .map(|column| (Some(qualifier.clone()), Arc::new(Field::new(&column.name, column.ty.arrow(), true))))
        .collect()
}

fn count_schema() -> Result<DFSchemaRef> {
    let field = Arc::new(Field::new("count", DataType::Int64, false));
    Ok(Arc::new(DFSchema::new_with_metadata(vec![(None, field)], HashMap::new())?))
}

/// The output of UPDATE and DELETE … RETURNING: the input without row key and new values.
fn rows_schema(table: &TableDescriptor, input: &LogicalPlan, assigned: usize) -> Result<DFSchemaRef> {
    let live = table.live_columns().count();
    let extras = 1 + live + assigned;
    let schema = input.schema();
    if schema.fields().len() < extras {
        return plan_err!("a write of table {} got {} columns, fewer than {extras}", table.name, schema.fields().len());
    }
    let fields = schema
        .iter()
        .enumerate()
        .filter(|(index, _)| (1..=live).contains(index) || *index >= extras)
        .map(|(_, (qualifier, field))| (qualifier.cloned(), Arc::new(field.as_ref().clone().with_nullable(true))))
        .collect();
    Ok(Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?))
}

impl InsertNode {
    /// Makes the node. `qualifier` is the table's name or alias. It qualifies the columns of RETURNING, and is the
    /// `target` of DO UPDATE's expressions.
    pub fn new(
        table: Arc<TableDescriptor>,
        qualifier: TableReference,
        input: LogicalPlan,
        on_conflict: Option<OnConflict>,
        rules: Rules,
        returning: bool,
    ) -> Result<Self> {
        let live = table.live_columns().count();
        if input.schema().fields().len() != live {
            return plan_err!("INSERT into {} got {} columns, not {live}", table.name, input.schema().fields().len());
        }
        let schema = match (&on_conflict, returning) {
            (_, false) => count_schema()?,
            (Some(OnConflict::DoUpdate { .. }), true) => {
                let mut fields = qualified_columns(&table, &qualifier);
                fields.push((None, Arc::new(Field::new(UPDATED_BY, DataType::Int64, true))));
                Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?)
            }
            (_, true) => Arc::new(table_schema(&table, &qualifier)?),
        };
        let mut on_conflict = on_conflict;
        let subqueries = on_conflict.as_mut().map(OnConflict::take_subqueries).transpose()?.unwrap_or_default();
        let given = Vec::new();
        Ok(InsertNode { table, input, on_conflict, rules, returning, qualifier, subqueries, rows: None, given, schema })
    }
    /// Sets the columns to which the statement gives values.
    #[must_use]
    pub fn with_given(self, given: Vec<ColumnId>) -> Self {
        InsertNode { given, ..self }
    }
    /// Sets the plan that computes the new values of rows in conflict.
    #[must_use]
    pub fn with_rows(self, rows: Option<(usize, LogicalPlan)>) -> Self {
        InsertNode { rows, ..self }
    }
}

impl UpdateNode {
    /// Makes the node and derives its output schema.
    pub fn new(
        table: Arc<TableDescriptor>,
        input: LogicalPlan,
        assigned: Vec<ColumnId>,
        rules: Rules,
        returning: bool,
    ) -> Result<Self> {
        let rows = rows_schema(&table, &input, assigned.len())?;
        let schema = if returning { rows } else { count_schema()? };
        let target = scanned_as(&input);
        Ok(UpdateNode { table, target, input, assigned, rules, returning, schema })
    }
}

impl DeleteNode {
    /// Makes the node and derives its output schema.
    pub fn new(table: Arc<TableDescriptor>, input: LogicalPlan, rules: Rules, returning: bool) -> Result<Self> {
        let rows = rows_schema(&table, &input, 0)?;
        let schema = if returning { rows } else { count_schema()? };
        let target = scanned_as(&input);
        Ok(DeleteNode { table, target, input, rules, returning, schema })
    }
}

impl MergeNode {
    /// Makes the node and derives its output schema.
    pub fn new(
        table: Arc<TableDescriptor>,
        input: LogicalPlan,
        actions: Vec<MergeAction>,
        rules: Rules,
        again: MergeAgain,
    ) -> Result<Self> {
        let wanted = 2 + 2 * table.live_columns().count();
        let columns = input.schema().fields().len();
        if columns < wanted || again.plan.schema().fields().len() != columns {
            return plan_err!("MERGE into {} got other columns than {wanted} and those of its source", table.name);
        }
        Ok(MergeNode { table, input, actions, rules, again, schema: count_schema()? })
    }
}

/// Identity of a table within a plan.
fn identity(table: &TableDescriptor) -> (Oid, u64) {
    (table.oid, table.version)
}

/// Implements equality, order and hash of a node by its input and by the parts that `key` selects.
macro_rules! compare_by {
    ($node:ty, |$this:ident| $key:expr) => {
        impl PartialEq for $node {
            fn eq(&self, other: &Self) -> bool {
                let key = |$this: &Self| $key;
                identity(&self.table) == identity(&other.table) && self.input == other.input && key(self) == key(other)
            }
        }
        impl Eq for $node {}
        impl Hash for $node {
            fn hash<H: Hasher>(&self, state: &mut H) {
                let key = |$this: &Self| $key;
                identity(&self.table).hash(state);
                self.input.hash(state);
                key(self).hash(state);
            }
        }
        impl PartialOrd for $node {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                if self == other {
                    return Some(Ordering::Equal);
                }
                match (identity(&self.table), &self.input).partial_cmp(&(identity(&other.table), &other.input)) {
                    Some(Ordering::Equal) => None,
                    order => order,
                }
            }
        }
    };
}

compare_by!(InsertNode, |this| {
    (this.on_conflict.clone(), this.rules.clone(), this.returning, this.subqueries.clone(), this.rows.clone())
});
compare_by!(UpdateNode, |this| (this.assigned.clone(), this.rules.clone(), this.returning));
compare_by!(DeleteNode, |this| (this.rules.clone(), this.returning));
compare_by!(MergeNode, |this| (this.actions.clone(), this.rules.clone(), this.again.clone()));

fn one_input(mut inputs: Vec<LogicalPlan>) -> Result<LogicalPlan> {
    match (inputs.pop(), inputs.is_empty()) {
        (Some(input), true) => Ok(input),
        _ => plan_err!("a write has one input"),
    }
}

/// The common methods of writing nodes, which need all columns of their input.
macro_rules! writing_node {
    ($node:ty, $name:literal) => {
        impl UserDefinedLogicalNodeCore for $node {
            fn name(&self) -> &str {
                $name
            }
            fn inputs(&self) -> Vec<&LogicalPlan> {
                vec![&self.input]
            }
            fn schema(&self) -> &DFSchemaRef {
                &self.schema
            }
            fn expressions(&self) -> Vec<Expr> {
                Vec::new()
            }
            fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}: {}", $name, self.table.name)
            }
            fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
                Ok(Self { input: one_input(inputs)?, ..self.clone() })
            }
            fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
                Some(vec![(0..self.input.schema().fields().len()).collect()])
            }
        }
    };
}

impl UserDefinedLogicalNodeCore for InsertNode {
    fn name(&self) -> &str {
        "Insert"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        std::iter::once(&self.input).chain(self.rows.iter().map(|(_, plan)| plan)).collect()
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        self.subqueries.clone()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Insert: {}", self.table.name)
    }
    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut inputs = inputs;
        let rows = match &self.rows {
            Some((part, _)) => inputs.pop().map(|plan| (*part, plan)),
            None => None,
        };
        Ok(InsertNode { input: one_input(inputs)?, subqueries: exprs, rows, ..self.clone() })
    }
    fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(self.inputs().iter().map(|input| (0..input.schema().fields().len()).collect()).collect())
    }
}

writing_node!(UpdateNode, "Update");
writing_node!(DeleteNode, "Delete");

impl UserDefinedLogicalNodeCore for MergeNode {
    fn name(&self) -> &str {
        "Merge"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input, &self.again.plan]
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Merge: {}", self.table.name)
    }
    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut inputs = inputs;
        let Some(plan) = inputs.pop() else { return plan_err!("MERGE has two inputs") };
        let again = MergeAgain { part: self.again.part, plan };
        Ok(MergeNode { input: one_input(inputs)?, again, ..self.clone() })
    }
    fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(self.inputs().iter().map(|input| (0..input.schema().fields().len()).collect()).collect())
    }
}

impl PartialEq for LockRowsNode {
    fn eq(&self, other: &Self) -> bool {
        let alike = |(one, other): (&LockedTable, &LockedTable)| one.key() == other.key();
        self.tables.len() == other.tables.len()
            && self.tables.iter().zip(&other.tables).all(alike)
            && (&self.input, &self.skip, &self.fetch) == (&other.input, &other.skip, &other.fetch)
    }
}
impl Eq for LockRowsNode {}
impl Hash for LockRowsNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tables.iter().for_each(|table| table.key().hash(state));
        (&self.input, &self.skip, &self.fetch).hash(state);
    }
}
impl PartialOrd for LockRowsNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other { Some(Ordering::Equal) } else { self.input.partial_cmp(&other.input) }
    }
}

impl UserDefinedLogicalNodeCore for LockRowsNode {
    fn name(&self) -> &str {
        "LockRows"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }
    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }
    fn expressions(&self) -> Vec<Expr> {
        self.skip.iter().chain(&self.fetch).cloned().collect()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockRows:")?;
        for table in &self.tables {
            write!(f, " {} {:?}", table.table.name, table.strength)?;
        }
        Ok(())
    }
    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut exprs = exprs.into_iter();
        let skip = self.skip.as_ref().and_then(|_| exprs.next());
        let fetch = self.fetch.as_ref().and_then(|_| exprs.next());
        Ok(LockRowsNode { tables: self.tables.clone(), input: one_input(inputs)?, skip, fetch })
    }
    /// All columns are needed, so that the key columns keep their positions.
    fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![(0..self.input.schema().fields().len()).collect()])
    }
}

/// The name under which the input of UPDATE or DELETE scans the written table, whose row keys are its first column.
fn scanned_as(input: &LogicalPlan) -> Option<TableReference> {
    let LogicalPlan::Projection(projection) = input else { return None };
    match projection.expr.first()?.clone().unalias() {
        Expr::Column(column) if column.name == crate::KEY_COLUMN => column.relation,
        _ => None,
    }
}
