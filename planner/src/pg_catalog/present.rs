//! The functions, operators and casts of PostgreSQL that are supported. The resolver decides about each with its own
//! types, so the catalog agrees with the binder. Functions that implement others are included: input and output
//! functions of types, and functions of operators and operator classes.

use super::builtin::{
    AGGREGATES, ALL_FUNCTIONS, ALL_OPERATORS, CASTS, FAMILY_FUNCTIONS, FAMILY_OPERATORS, Function, OPERATOR_CLASSES,
    OPERATOR_FAMILIES, Operator, Row, TYPES, pseudo_type,
};
use crate::bind::is_row_function;
use crate::catalog::CatalogBuilder;
use crate::execution::Slots;
use crate::functions::{AggregateCall, CastContext, ParameterTypes, Resolver, TypedExpr, cast_exists};
use crate::settings::Settings;
use crate::types::{BaseType, Oid, SqlType};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

/// `"any"`, anyelement, anynonarray, anycompatible, anycompatiblenonarray, and arrays of them.
const ANY: [Oid; 5] = [2276, 2283, 2776, 5077, 5079];
const ANY_ARRAYS: [Oid; 2] = [2277, 5078];
const ANY_ENUM: Oid = 3500;
const INTERNAL: Oid = 2281;
const CSTRING: Oid = 2275;
const CSTRINGS: Oid = 1263;

/// Whether a type is supported, or is a pseudo-type.
fn known(oid: Oid) -> bool {
    // Ranges and user-defined composite types are not supported.
    const RANGES: [Oid; 5] = [3831, 4537, 4538, 5080, 4573];
    SqlType::from_oid(oid).is_some() || (pseudo_type(oid).is_some() && !RANGES.contains(&oid))
}

/// A type to query the resolver with, for a parameter of this type.
fn sample(oid: Oid) -> Option<SqlType> {
    match oid {
        _ if ANY.contains(&oid) => Some(SqlType::INT4),
        _ if ANY_ARRAYS.contains(&oid) => Some(SqlType::INT4.array_of()),
        INTERNAL | CSTRING | ANY_ENUM => None,
        oid => SqlType::from_oid(oid),
    }
}

fn value(ty: SqlType) -> TypedExpr {
    TypedExpr::new(Expr::Column(Column::from_name("value")), ty)
}

fn ask<T>(questions: impl FnOnce(&Resolver<'_>) -> T) -> T {
    let (parameters, slots) = (ParameterTypes::default(), Slots::new());
    let (settings, catalog) =
        (Settings::default(), Arc::new(CatalogBuilder::new(crate::pg_catalog::SystemViews::get()).build()));
    questions(&Resolver::new(&parameters, &slots, &settings, &catalog, 0))
}

/// Whether a result type is PostgreSQL's.
fn agrees(found: SqlType, wanted: Oid) -> bool {
    let found = if found.is_vector() { found } else { found.plain() };
    match sample(wanted) {
        Some(wanted) => found.oid() == wanted.oid(),
        None => wanted == ANY_ENUM,
    }
}

/// Names with their own rules in the grammar or the binder.
const BY_RULES: [&str; 6] = ["pg_typeof", "num_nulls", "num_nonnulls", "concat", "concat_ws", "format"];
/// Hypothetical-set aggregates, which the binder creates.
const HYPOTHETICAL: [&str; 4] = ["rank", "dense_rank", "percent_rank", "cume_dist"];

fn callable(resolver: &Resolver<'_>, function: &Function) -> bool {
    let types = function.all_types();
    if !known(function.result) || !function.arguments.iter().chain(&types).all(|oid| known(*oid)) {
        return false;
    }
    let name = function.name;
    match function.kind {
        "w" => return resolver.is_window(name),
        "a" if resolver.is_ordered_set(name) || HYPOTHETICAL.contains(&name) => return true,
        _ if BY_RULES.contains(&name) => return true,
        _ => {}
    }
    if function.kind == "f" && function.rows {
        return is_row_function(name) || resolver.is_listed_rows(name);
    }
    if function.arguments.contains(&ANY_ENUM) {
        return resolver.is_function(name);
    }
    let samples: Option<Vec<TypedExpr>> = function.arguments.iter().map(|oid| sample(*oid).map(value)).collect();
    let Some(arguments) = samples else { return false };
    match function.kind {
        "a" => {
            let call = AggregateCall { args: arguments, distinct: false, filter: None, order_by: Vec::new() };
            resolver.is_aggregate(name)
                && resolver.aggregate(name, call).is_ok_and(|found| agrees(found.ty, function.result))
        }
        _ => {
            resolver.is_function(name)
                && resolver.function(name, arguments).is_ok_and(|found| agrees(found.ty, function.result))
        }
    }
}

fn there(resolver: &Resolver<'_>, operator: &Operator) -> bool {
    let types = [operator.left, operator.right, operator.result];
    let left = (operator.left != 0).then(|| sample(operator.left).map(value));
    let (None | Some(Some(_)), Some(right)) = (&left, sample(operator.right).map(value)) else { return false };
    types.iter().all(|oid| *oid == 0 || known(*oid))
        && resolver.operator(operator.name, left.flatten(), right).is_ok_and(|found| agrees(found.ty, operator.result))
}

/// The supported casts of PostgreSQL's catalog.
pub(super) fn casts() -> impl Iterator<Item = &'static Row> {
    CASTS.rows.iter().filter(|row| {
        let (Some(from), Some(to)) = (SqlType::from_oid(row.oid(1)), SqlType::from_oid(row.oid(2))) else {
            return false;
        };
        let context = match row.field(4) {
            Some("i") => CastContext::Implicit,
            Some("a") => CastContext::Assignment,
            _ => CastContext::Explicit,
        };
        from == to || cast_exists(from, to, context)
    })
}

/// The types in `pg_type`: those of values, pseudo-types, and the array of the pseudo-type that has one.
pub(super) fn types() -> impl Iterator<Item = &'static Row> {
    TYPES.rows.iter().filter(|row| known(row.oid(0)) || row.oid(0) == CSTRINGS)
}

/// The operator families of supported types.
pub(super) fn families() -> impl Iterator<Item = &'static Row> {
    static FOUND: LazyLock<HashSet<Oid>> = LazyLock::new(|| classes().map(|row| row.oid(3)).collect());
    OPERATOR_FAMILIES.rows.iter().filter(|row| FOUND.contains(&row.oid(0)))
}

/// The operator classes of supported types, and that of enums.
pub(super) fn classes() -> impl Iterator<Item = &'static Row> {
    let has_values = |oid: Oid| SqlType::from_oid(oid).is_some() || oid == ANY_ENUM || oid == ANY_ARRAYS[0];
    OPERATOR_CLASSES.rows.iter().filter(move |row| has_values(row.oid(4)))
}

/// The operators of the families.
pub(super) fn family_operators() -> impl Iterator<Item = &'static Row> {
    FAMILY_OPERATORS.rows.iter().filter(|row| OPERATOR_OIDS.contains(&row.oid(6)))
}

/// The functions of the families.
pub(super) fn family_functions() -> impl Iterator<Item = &'static Row> {
    FAMILY_FUNCTIONS.rows.iter().filter(|row| known(row.oid(2)) && known(row.oid(3)))
}

/// The indexes of supported operators in [`ALL_OPERATORS`].
static OPERATORS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    ask(|resolver| {
        let all = ALL_OPERATORS.iter().enumerate();
        all.filter(|(_, operator)| there(resolver, operator) || of_any(operator)).map(|(at, _)| at).collect()
    })
});

/// Whether an operator takes any array, enum or record, for which no sample type exists.
fn of_any(operator: &Operator) -> bool {
    const RECORD: Oid = 2249;
    let compares = ["=", "<>", "<", "<=", ">", ">="].contains(&operator.name);
    compares && operator.left == operator.right && [ANY_ENUM, RECORD].contains(&operator.left)
}

static OPERATOR_OIDS: LazyLock<HashSet<Oid>> = LazyLock::new(|| operators().map(|operator| operator.oid).collect());

pub(super) fn operators() -> impl Iterator<Item = &'static Operator> {
    OPERATORS.iter().filter_map(|at| ALL_OPERATORS.get(*at))
}

/// The indexes of supported functions in [`ALL_FUNCTIONS`].
static FUNCTIONS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut needed: HashSet<Oid> = HashSet::new();
    needed.extend(types().flat_map(|row| [8, 11, 12, 13, 14, 15, 16, 17].map(|at| row.oid(at))));
    needed.extend(operators().flat_map(|operator| [10, 11, 12].map(|at| operator.row.oid(at))));
    needed.extend(family_functions().map(|row| row.oid(5)));
    needed.extend(casts().map(|row| row.oid(3)));
    // The handlers of tables and of btree.
    needed.extend([3, 330]);
    let callable: HashSet<Oid> = ask(|resolver| {
        ALL_FUNCTIONS.iter().filter(|function| callable(resolver, function)).map(|function| function.oid).collect()
    });
    let parts = AGGREGATES.rows.iter().filter(|row| callable.contains(&row.oid(0)));
    needed.extend(parts.flat_map(|row| (3..11).map(|at| row.oid(at))));
    let is_there = |function: &Function| callable.contains(&function.oid) || needed.contains(&function.oid);
    ALL_FUNCTIONS.iter().enumerate().filter(|(_, function)| is_there(function)).map(|(at, _)| at).collect()
});

pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().filter_map(|at| ALL_FUNCTIONS.get(*at))
}

/// The rows of `pg_aggregate`.
pub(super) fn aggregates() -> impl Iterator<Item = &'static Row> {
    static FOUND: LazyLock<HashSet<Oid>> =
        LazyLock::new(|| functions().filter(|function| function.kind == "a").map(|function| function.oid).collect());
    AGGREGATES.rows.iter().filter(|row| FOUND.contains(&row.oid(0)))
}

/// Whether PostgreSQL has a pseudo-type of this name.
pub fn is_pseudo_type(name: &str) -> bool {
    super::builtin::pseudo_type_named(name).is_some()
}

/// Whether PostgreSQL has a cast between two types.
pub fn has_cast(from: Oid, to: Oid) -> bool {
    CASTS.rows.iter().any(|row| row.oid(1) == from && row.oid(2) == to)
}

/// Whether PostgreSQL has an operator of this name with exactly these operands. The left one of a prefix operator is 0.
pub fn has_operator(name: &str, left: Oid, right: Oid) -> bool {
    ALL_OPERATORS.iter().any(|operator| operator.name == name && operator.left == left && operator.right == right)
}

/// The name of an operator class with this OID.
pub fn operator_class_name(oid: Oid) -> Option<&'static str> {
    OPERATOR_CLASSES.rows.iter().find(|row| row.oid(0) == oid).and_then(|row| row.field(2))
}

/// The OID of a btree operator class.
pub fn operator_class_named(name: &str) -> Option<Oid> {
    let btree = |row: &&Row| row.field(1) == Some("403") && row.field(2) == Some(name);
    OPERATOR_CLASSES.rows.iter().find(btree).map(|row| row.oid(0))
}

/// The default operator class of an index over a column of this type. 0 if there is none.
pub fn operator_class(ty: &SqlType) -> Oid {
    let oid = match ty.base {
        _ if ty.array && !ty.is_vector() => ANY_ARRAYS[0],
        BaseType::Enum(_) => ANY_ENUM,
        // varchar is compared as text, and object names as oids.
        BaseType::Varchar => SqlType::TEXT.oid(),
        base if base.is_oid() => SqlType::OID.oid(),
        _ => ty.oid(),
    };
    classes().find(|row| row.oid(4) == oid && row.field(5) == Some("t")).map_or(0, |row| row.oid(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_function(name: &str, arguments: &[Oid]) -> bool {
        functions().any(|function| function.name == name && function.arguments == arguments)
    }

    #[test]
    fn what_the_binder_knows_is_there_and_nothing_else() {
        for (name, arguments) in [
            ("upper", &[25][..]),
            ("now", &[]),
            ("sum", &[23]),
            ("row_number", &[]),
            ("generate_series", &[23, 23]),
            ("lo_open", &[26, 23]),
            ("int4pl", &[23, 23]),
            ("btint4cmp", &[23, 23]),
            ("int4in", &[2275]),
            ("array_length", &[2277, 23]),
            ("percentile_cont", &[701, 701]),
        ] {
            assert!(has_function(name, arguments), "{name}");
        }
        for (name, arguments) in
            [("upper", &[3831][..]), ("xpath", &[25, 142]), ("to_tsvector", &[25]), ("pg_read_file", &[25])]
        {
            assert!(!has_function(name, arguments), "{name}");
        }
        let operator = |name: &str, left, right| {
            operators().any(|operator| (operator.name, operator.left, operator.right) == (name, left, right))
        };
        assert!(
            operator("+", 23, 23) && operator("~~", 25, 25) && operator("-", 0, 1700) && operator("@>", 2277, 2277)
        );
        assert!(!operator("@@", 3614, 3615) && !operator("<->", 600, 600));
        assert_eq!(operator_class(&SqlType::INT4), 1978);
        assert!(casts().count() > 80 && aggregates().count() > 60 && types().count() > 100);
    }
}
