//! What operators and aggregates there are, found by asking the resolver for each symbol and name over the types
//! there are: so that `pg_operator` and `pg_proc` say what the binder does, not what a list says.

use crate::catalog::CatalogBuilder;
use crate::execution::Slots;
use crate::functions::{AggregateCall, ParameterTypes, Resolver, TypedExpr};
use crate::session::settings::Settings;
use crate::types::{BaseType, Oid, SqlType};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use std::sync::{Arc, LazyLock};

/// An aggregate over arguments of these types.
pub(super) struct Aggregate {
    pub(super) name: &'static str,
    /// `None`: any type.
    pub(super) arguments: Vec<Option<SqlType>>,
    pub(super) result: SqlType,
}

/// An operator between these types.
pub(super) struct Operator {
    pub(super) symbol: &'static str,
    /// Absent for a prefix operator.
    pub(super) left: Option<SqlType>,
    pub(super) right: SqlType,
    pub(super) result: SqlType,
}

const BINARY: [&str; 27] = [
    "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^", "|", "&", "#", "<<", ">>", "||", "~~", "!~~", "~~*",
    "!~~*", "~", "!~", "~*", "!~*", "^@",
];
const PREFIX: [&str; 5] = ["-", "+", "@", "|/", "~"];

/// The types that functions are declared for: varchar goes by text, and names of objects by oid.
fn types() -> Vec<SqlType> {
    use BaseType as B;
    let others = [B::Varchar, B::Regclass, B::Regtype, B::Regproc, B::Regnamespace, B::Unknown, B::Void];
    SqlType::ALL_BASES.into_iter().filter(|base| !others.contains(base)).map(SqlType::of).collect()
}

fn of_type(ty: SqlType) -> TypedExpr {
    TypedExpr::new(Expr::Column(Column::from_name("value")), ty)
}

fn ask<T>(questions: impl FnOnce(&Resolver<'_>) -> T) -> T {
    let (parameters, slots) = (ParameterTypes::default(), Slots::new());
    let (settings, catalog) = (Settings::default(), Arc::new(CatalogBuilder::new().build()));
    questions(&Resolver::new(&parameters, &slots, &settings, &catalog, 0))
}

/// Every aggregate. Those over any type are one.
pub(super) static AGGREGATES: LazyLock<Vec<Aggregate>> = LazyLock::new(|| {
    ask(|resolver| {
        let call = |name: &'static str, args: Vec<TypedExpr>| {
            let call = AggregateCall { args, distinct: false, filter: None, order_by: Vec::new() };
            resolver.aggregate(name, call).ok().map(|found| found.ty.plain())
        };
        let mut all = Vec::new();
        for name in Resolver::aggregate_names() {
            if let Some(result) = call(name, Vec::new()) {
                all.push(Aggregate { name, arguments: Vec::new(), result });
            }
            let one: Vec<(SqlType, SqlType)> =
                types().into_iter().filter_map(|ty| Some((ty, call(name, vec![of_type(ty)])?))).collect();
            match one.first() {
                // The same answer for every type there is: "any".
                Some((_, result)) if one.len() == types().len() && one.iter().all(|(_, other)| other == result) => {
                    all.push(Aggregate { name, arguments: vec![None], result: *result });
                }
                _ => all.extend(one.into_iter().map(|(ty, result)| Aggregate {
                    name,
                    arguments: vec![Some(ty)],
                    result,
                })),
            }
            for ty in [SqlType::TEXT, SqlType::BYTEA, SqlType::FLOAT8] {
                if let Some(result) = call(name, vec![of_type(ty), of_type(ty)]) {
                    all.push(Aggregate { name, arguments: vec![Some(ty), Some(ty)], result });
                }
            }
        }
        all
    })
});

/// Whether two types have operators of their own, rather than by an implicit cast of one of them.
fn akin(left: SqlType, right: SqlType) -> bool {
    use BaseType as B;
    let families: [&[B]; 4] = [
        &[B::Int2, B::Int4, B::Int8],
        &[B::Float4, B::Float8],
        &[B::Date, B::Timestamp, B::Timestamptz],
        &[B::Name, B::Text],
    ];
    let together = |family: &&[B]| family.contains(&left.base) && family.contains(&right.base);
    let moments = [B::Date, B::Timestamp, B::Timestamptz, B::Interval, B::Time, B::Timetz];
    let spans = moments.contains(&left.base) && matches!(right.base, B::Interval | B::Time | B::Timetz | B::Date)
        || left.base == B::Interval && (moments.contains(&right.base) || right.base == B::Float8)
        || left.base == B::Float8 && right.base == B::Interval;
    left == right || spans || families.iter().any(together) || (left.base == B::Date && right.base == B::Int4)
}

/// Every operator.
pub(super) static OPERATORS: LazyLock<Vec<Operator>> = LazyLock::new(|| {
    ask(|resolver| {
        let mut all = Vec::new();
        for symbol in BINARY {
            for left in types() {
                for right in types().into_iter().filter(|right| akin(left, *right)) {
                    if let Ok(found) = resolver.operator(symbol, Some(of_type(left)), of_type(right)) {
                        all.push(Operator { symbol, left: Some(left), right, result: found.ty.plain() });
                    }
                }
            }
        }
        for symbol in PREFIX {
            for right in types() {
                if let Ok(found) = resolver.operator(symbol, None, of_type(right)) {
                    all.push(Operator { symbol, left: None, right, result: found.ty.plain() });
                }
            }
        }
        all
    })
});

/// FNV-1a of a name and types, so that an OID stays what it is from one version to the next.
pub(super) fn hash(name: &str, arguments: &[Oid]) -> Oid {
    let bytes = name.bytes().chain(arguments.iter().flat_map(|oid| oid.to_be_bytes()));
    bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
