//! PostgreSQL's choice among its operators and functions for given argument types (chapter 10 of its manual, over its
//! own lists), in the binder's types. Must not know which of them are supported, nor expressions.

use super::conversions::{Types, oid};
use super::resolve::{self, Failure};
use crate::{
    AGGREGATES, ALL_FUNCTIONS, ALL_OPERATORS, FAMILY_FUNCTIONS, Function, functions_named, functions_of,
    operators_named, pseudo_type,
};
use catalog::Catalog;
use std::collections::HashMap;
use std::sync::LazyLock;
use types::{BaseType, Oid, SqlType};

/// The result of a choice.
#[derive(Debug, PartialEq)]
pub enum Choice {
    /// PostgreSQL has no operator or function of this name.
    Unlisted,
    /// None accepts these types.
    Missing,
    /// Several accept them, and none fits best.
    Ambiguous,
    /// One accepts them, but its types depend on string constants whose types are unknown.
    Undetermined,
    /// This one was chosen.
    Chosen {
        /// The OID of the function, or of the operator's function.
        function: Oid,
        /// The types that the arguments are converted to. `None` if an argument is unchanged, or its
        /// type is not supported.
        arguments: Vec<Option<SqlType>>,
        /// The index of the first argument that becomes an element of a variadic array.
        elements_from: Option<usize>,
    },
}

/// Whether a type is an array of rows, whose elements the lists do not know.
fn is_records(ty: SqlType) -> bool {
    ty.array && matches!(ty.base, BaseType::Record(_))
}

fn oid_of(ty: SqlType) -> Oid {
    match ty.base {
        BaseType::Record(_) => oid::RECORD,
        BaseType::Unknown => oid::UNKNOWN,
        _ => ty.oid(),
    }
}

fn outcome<T>(
    catalog: &Catalog,
    found: Result<resolve::Chosen<T>, Failure>,
    function: impl FnOnce(T) -> (Oid, Option<usize>),
) -> Choice {
    let ty = |found: Oid| catalog.type_by_oid(found).filter(|ty| !matches!(ty.base, BaseType::Record(_)));
    match found {
        Ok(chosen) => {
            let (function, elements_from) = function(chosen.what);
            Choice::Chosen { function, arguments: chosen.arguments.into_iter().map(ty).collect(), elements_from }
        }
        Err(Failure::Missing) => Choice::Missing,
        Err(Failure::Ambiguous) => Choice::Ambiguous,
        Err(Failure::Undetermined) => Choice::Undetermined,
    }
}

/// Chooses the operator of a name. Without a left type it is a prefix operator.
pub fn operator(catalog: &Catalog, name: &str, left: Option<SqlType>, right: SqlType) -> Choice {
    if operators_named(name) == 0 || is_records(right) || left.is_some_and(is_records) {
        return Choice::Unlisted;
    }
    let found = resolve::operator(Types { catalog }, name, left.map(oid_of), oid_of(right));
    outcome(catalog, found, |operator| (operator.row.oid(10), None))
}

/// Whether a function takes values of unsupported types.
fn takes_what_is_not_here(function: &Function) -> bool {
    function.arguments.iter().any(|ty| SqlType::from_oid(*ty).is_none() && pseudo_type(*ty).is_none())
}

/// The kind of function in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary function, called with single arguments.
    Plain,
    /// An ordinary function called with VARIADIC: the last argument is the array of the variadic values.
    Spread,
    /// An aggregate or ordered-set function.
    Aggregate,
}

/// Chooses the function of a name and kind.
pub fn function(catalog: &Catalog, name: &str, arguments: &[SqlType], kind: Kind) -> Choice {
    if functions_named(name) == 0 {
        return Choice::Unlisted;
    }
    if arguments.iter().any(|ty| is_records(*ty)) {
        return Choice::Unlisted;
    }
    let given: Vec<Oid> = arguments.iter().map(|ty| oid_of(*ty)).collect();
    let (kinds, spread) = match kind {
        Kind::Plain => ("f", false),
        Kind::Spread => ("f", true),
        Kind::Aggregate => ("a", false),
    };
    let found = resolve::function(Types { catalog }, name, kinds, &given, spread);
    // Values of unsupported types are text here.
    let plain = kind != Kind::Aggregate;
    if plain && matches!(found, Err(Failure::Missing)) && functions_of(name).any(takes_what_is_not_here) {
        return Choice::Unlisted;
    }
    outcome(catalog, found, |function| {
        let many = function.row.oid(5) != 0 && !spread;
        (function.oid, many.then(|| function.arguments.len().saturating_sub(1)))
    })
}

/// An equivalent form of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An operator with the same operands.
    Operator(&'static str),
    /// Another function with the same arguments.
    Function(&'static str),
    /// The order of two values: -1, 0 or 1.
    Order,
    /// The greater of two values.
    Greater,
    /// The smaller of two values.
    Smaller,
}

/// Whether a function is an ordinary one that the server itself implements.
fn implemented(function: &Function) -> bool {
    const INTERNAL: &str = "12";
    function.kind == "f" && !function.rows && function.row.field(2) == Some(INTERNAL)
}

/// The equivalent forms of functions that implement an operator, a sort order, max or min, or another function.
static MEANINGS: LazyLock<HashMap<Oid, Vec<Meaning>>> = LazyLock::new(|| {
    const ORDER: &str = "1";
    let mut meanings: HashMap<Oid, Vec<Meaning>> = HashMap::new();
    let mut add = |function: Oid, meaning: Meaning| meanings.entry(function).or_default().push(meaning);
    for operator in ALL_OPERATORS.iter() {
        add(operator.row.oid(10), Meaning::Operator(operator.name));
    }
    for row in FAMILY_FUNCTIONS.rows.iter().filter(|row| row.field(4) == Some(ORDER)) {
        add(row.oid(5), Meaning::Order);
    }
    let names: HashMap<Oid, &Function> = ALL_FUNCTIONS.iter().map(|function| (function.oid, function)).collect();
    for row in &AGGREGATES.rows {
        match names.get(&row.oid(0)).map(|aggregate| aggregate.name) {
            Some("max") => add(row.oid(3), Meaning::Greater),
            Some("min") => add(row.oid(3), Meaning::Smaller),
            _ => {}
        }
    }
    // Functions with the same source and arguments.
    let mut sources: HashMap<(&str, &[Oid]), Vec<&Function>> = HashMap::new();
    for function in ALL_FUNCTIONS.iter().filter(|function| implemented(function)) {
        // Without a source, the source is the function's own name.
        let source = function.row.field(20).unwrap_or(function.name);
        sources.entry((source, &function.arguments)).or_default().push(function);
    }
    for same in sources.values().filter(|same| same.len() > 1) {
        for function in same {
            for other in same.iter().filter(|other| other.name != function.name) {
                add(function.oid, Meaning::Function(other.name));
            }
        }
    }
    meanings
});

/// Whether a function of this name has an equivalent form.
pub fn has_meaning(name: &str) -> bool {
    functions_of(name).any(|function| MEANINGS.contains_key(&function.oid))
}

/// The equivalent forms of a function.
pub fn meanings(function: Oid) -> &'static [Meaning] {
    MEANINGS.get(&function).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::CatalogBuilder;

    #[test]
    fn the_manual_s_rules_choose() {
        let catalog = CatalogBuilder::new(&catalog::NoSystem).build();
        let of = |name: &str, types: &[SqlType]| function(&catalog, name, types, Kind::Plain);
        let chosen = |choice: Choice| match choice {
            Choice::Chosen { arguments, .. } => arguments,
            _ => Vec::new(),
        };
        assert_eq!(of("age", &[SqlType::UNKNOWN]), Choice::Ambiguous);
        assert_eq!(of("upper", &[SqlType::INT4]), Choice::Missing);
        assert_eq!(of("no_such", &[]), Choice::Unlisted);
        let strings = chosen(of("array_append", &[SqlType::UNKNOWN, SqlType::UNKNOWN]));
        assert_eq!(strings, [Some(SqlType::TEXT.array_of()), Some(SqlType::TEXT)]);
        assert_eq!(of("array_length", &[SqlType::UNKNOWN, SqlType::INT4]), Choice::Undetermined);
        let plus = operator(&catalog, "+", Some(SqlType::DATE), SqlType::TIME);
        assert!(matches!(plus, Choice::Chosen { .. }));
        assert_eq!(operator(&catalog, "=", Some(SqlType::INT4), SqlType::TEXT), Choice::Missing);
    }

    #[test]
    fn functions_mean_operators_and_each_other() {
        let of = |name: &str| {
            let found = ALL_FUNCTIONS.iter().find(|function| function.name == name);
            found.map_or(&[][..], |function| meanings(function.oid))
        };
        assert!(of("int4pl").contains(&Meaning::Operator("+")));
        assert!(of("textlen").contains(&Meaning::Function("length")));
        assert!(of("btint4cmp").contains(&Meaning::Order));
        assert!(of("int4larger").contains(&Meaning::Greater) && of("date_smaller").contains(&Meaning::Smaller));
    }
}
