//! [`Reduced`]: time types with more than six fractional digits. They mean six digits, and PostgreSQL warns. For
//! a column it warns twice: with a position when it reads the type, and without one when it creates the column.
//! So does this module.

use super::source::Source;
use grammar::Span;
use grammar::tree::{
    AlterColumn, AlterTableKind, AlterType, CurrentValue, Expr, ExprKind, FromItem, Literal, SpecialCall, Statement,
    TableElement, TypeBase, TypeDefinition, TypeName,
};
use grammar::visit::{Visit, Visitor};
use std::ops::ControlFlow;

/// A time type whose precision was reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The warning, such as `TIMESTAMP(7) precision reduced to maximum allowed, 6`.
    pub message: String,
    /// The position of the type in characters from 1, if PostgreSQL reports it.
    pub position: Option<usize>,
}

const MOST_DIGITS: i64 = 6;

/// The types of a statement with more than six fractional digits, in the order of PostgreSQL's warnings.
pub fn reduced(source: &Source, tree: &Statement) -> Vec<Reduced> {
    let mut finder = Finder { found: Vec::new() };
    finder.types(tree);
    let _ = tree.visit(&mut finder);
    finder.found.sort_by_key(|found| found.start);
    let (mut columns, mut others) = (Vec::new(), Vec::new());
    for Found { message, place, made, .. } in finder.found {
        let position = place.and_then(|place| source.start(place));
        let reduced = |position| Reduced { message: message.clone(), position };
        match made {
            Made::Column => {
                others.insert(columns.len(), reduced(None));
                columns.push(reduced(position));
            }
            Made::Changed => others.extend([reduced(None), reduced(None)]),
            Made::No => others.push(reduced(position)),
        }
    }
    columns.extend(others);
    columns
}

/// The relation between a type and a column that the statement defines.
#[derive(Clone, Copy)]
enum Made {
    /// The type of a new column in CREATE TABLE or ADD COLUMN.
    Column,
    /// The new type in ALTER … TYPE.
    Changed,
    /// Not a column's type.
    No,
}

struct Found {
    message: String,
    /// Where it stands in the text.
    start: u32,
    /// What PostgreSQL points at. CURRENT_TIME and its kin have no such place.
    place: Option<Span>,
    made: Made,
}

struct Finder {
    found: Vec<Found>,
}

impl Finder {
    fn add(&mut self, name: &str, digits: i64, zoned: bool, span: Span, place: Option<Span>, made: Made) {
        if digits > MOST_DIGITS {
            let zone = if zoned { " WITH TIME ZONE" } else { "" };
            let message = format!("{name}({digits}){zone} precision reduced to maximum allowed, {MOST_DIGITS}");
            self.found.push(Found { message, start: span.start, place, made });
        }
    }

    fn data_type(&mut self, data_type: &TypeName, made: Made) {
        let [Expr { kind: ExprKind::Literal(Literal::Integer(digits)), .. }] = data_type.modifiers.as_slice() else {
            return;
        };
        let (name, zoned) = match &data_type.base {
            TypeBase::Timestamp(zoned) => ("TIMESTAMP", *zoned),
            TypeBase::Time(zoned) => ("TIME", *zoned),
            TypeBase::Interval(_) => ("INTERVAL", false),
            TypeBase::Named(name) => match name.parts.last().map(|last| last.value.as_str()) {
                Some("timestamptz") => ("TIMESTAMP", true),
                Some("timestamp") => ("TIMESTAMP", false),
                Some("timetz") => ("TIME", true),
                Some("time") => ("TIME", false),
                Some("interval") => ("INTERVAL", false),
                _ => return,
            },
            _ => return,
        };
        if let Ok(digits) = digits.parse::<i32>() {
            self.add(name, digits.into(), zoned, data_type.span, Some(data_type.span), made);
        }
    }

    /// The types of a statement that stand in no expression or query.
    fn types(&mut self, tree: &Statement) {
        match tree {
            Statement::CreateTable(create) => {
                for element in &create.elements {
                    if let TableElement::Column(column) = element {
                        column.data_type.iter().for_each(|data_type| self.data_type(data_type, Made::Column));
                    }
                }
            }
            Statement::AlterTable(alter) => {
                for action in &alter.actions {
                    match &action.kind {
                        AlterTableKind::AddColumn { column, .. } => {
                            column.data_type.iter().for_each(|data_type| self.data_type(data_type, Made::Column));
                        }
                        AlterTableKind::AlterColumn(_, AlterColumn::Type { data_type, .. }) => {
                            self.data_type(data_type, Made::Changed);
                        }
                        _ => {}
                    }
                }
            }
            Statement::CreateType(create) => {
                if let TypeDefinition::Composite(columns) = &create.definition {
                    columns.iter().for_each(|column| self.data_type(&column.data_type, Made::No));
                }
            }
            Statement::AlterType(alter) => {
                for action in &alter.1 {
                    if let AlterType::AddAttribute(column, _) | AlterType::AlterAttribute(column, _) = action {
                        self.data_type(&column.data_type, Made::No);
                    }
                }
            }
            Statement::CreateSchema(create) => create.elements.iter().for_each(|element| self.types(element)),
            Statement::Prepare(prepare) => {
                prepare.types.iter().for_each(|data_type| self.data_type(data_type, Made::No));
            }
            _ => {}
        }
    }
}

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match &expr.kind {
            ExprKind::Cast { data_type, .. } => self.data_type(data_type, Made::No),
            ExprKind::Special(special) => match special.as_ref() {
                SpecialCall::Treat(_, data_type) => self.data_type(data_type, Made::No),
                SpecialCall::Current(value, Some(digits)) => {
                    let (name, zoned) = match value {
                        CurrentValue::Timestamp => ("TIMESTAMP", true),
                        CurrentValue::LocalTimestamp => ("TIMESTAMP", false),
                        CurrentValue::Time => ("TIME", true),
                        CurrentValue::LocalTime => ("TIME", false),
                        _ => return ControlFlow::Continue(()),
                    };
                    self.add(name, i64::from(*digits), zoned, expr.span, None, Made::No);
                }
                _ => {}
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_from(&mut self, item: &FromItem) -> ControlFlow<()> {
        if let FromItem::Function { functions, alias, .. } = item {
            let own = functions.iter().flat_map(|function| &function.definitions);
            let all = own.chain(alias.iter().flat_map(|alias| &alias.definitions));
            all.for_each(|column| self.data_type(&column.data_type, Made::No));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn types_with_too_many_digits() {
        // Checked against PostgreSQL 15.
        for (sql, expected) in [
            ("select 'x'::timestamp(7), time(6) '10:00'", vec![("TIMESTAMP(7)", Some(13))]),
            ("select interval '1' day to second(8)", vec![("INTERVAL(8)", Some(8))]),
            (
                "select current_time(9), timetz(10) '1:00'",
                vec![("TIME(9) WITH TIME ZONE", None), ("TIME(10) WITH TIME ZONE", Some(25))],
            ),
            ("select second(7), \"time\"(8), f(7)", vec![]),
            ("select * from f() as t(a int, b time(7))", vec![("TIME(7)", Some(33))]),
            (
                "create temp table t (a int check (a > f(1)), b timestamp(7) with time zone default current_timestamp(8))",
                vec![
                    ("TIMESTAMP(7) WITH TIME ZONE", Some(48)),
                    ("TIMESTAMP(7) WITH TIME ZONE", None),
                    ("TIMESTAMP(8) WITH TIME ZONE", None),
                ],
            ),
            ("alter table t alter a type time(7)", vec![("TIME(7)", None), ("TIME(7)", None)]),
            ("alter table t add a time(7)", vec![("TIME(7)", Some(21)), ("TIME(7)", None)]),
            ("explain select 'x'::time(7)", vec![("TIME(7)", Some(21))]),
        ] {
            let found = reduced(&Source::new(sql), &grammar::parse(sql).unwrap().remove(0).statement);
            let found: Vec<(&str, Option<usize>)> =
                found.iter().map(|one| (one.message.split_once(" precision").unwrap().0, one.position)).collect();
            assert_eq!(found, expected, "{sql}");
        }
    }
}
