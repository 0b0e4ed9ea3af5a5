//! PostgreSQL's own rows of types, functions, aggregates, operators and operator classes. They are the files of
//! `facts`, which a test compares with a real PostgreSQL. Must not know which of them are supported: see `present`.

pub mod closed;
pub mod collations;
pub mod conversions;
pub mod overload_resolution;
pub mod resolve;
pub mod sizes;

use std::collections::HashMap;
use std::sync::LazyLock;
use types::Oid;
use types::keyword::quote;

/// OID of the view `percosql.sequences`, which pg_dump reads.
pub const SEQUENCES_VIEW: Oid = 15_001;

/// A file of tab-separated lines in COPY format, under a line with the column names.
pub struct Facts {
    /// The names of the columns.
    pub names: Vec<&'static str>,
    /// The lines.
    pub rows: Vec<Row>,
}

/// A line of a file.
#[derive(Clone, Copy, Debug)]
pub struct Row(pub &'static str);

impl Row {
    /// The field at an index. `None` for NULL.
    pub fn field(&self, at: usize) -> Option<&'static str> {
        self.0.split('\t').nth(at).filter(|field| *field != "\\N")
    }
    /// The field at an index as an OID. 0 if it is not a number.
    pub fn oid(&self, at: usize) -> Oid {
        self.field(at).and_then(|field| field.parse().ok()).unwrap_or(0)
    }
    /// The field at an index as OIDs: `25 23` or `{25,23}`.
    pub fn oids(&self, at: usize) -> Vec<Oid> {
        let list = self.field(at).unwrap_or_default();
        list.split(|c: char| !c.is_ascii_digit()).filter_map(|oid| oid.parse().ok()).collect()
    }
}

impl Facts {
    fn read(text: &'static str) -> Facts {
        let mut lines = text.lines();
        let names = lines.next().unwrap_or_default().split('\t').collect();
        Facts { names, rows: lines.map(Row).collect() }
    }
}

/// Decodes a field in COPY format.
pub fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident $file:literal;)*) => {$(
        $(#[$doc])*
        pub static $name: LazyLock<Facts> = LazyLock::new(|| Facts::read(include_str!($file)));
    )*};
}

facts! {
    /// The rows of `pg_type`.
    TYPES "facts/types.tsv";
    /// The rows of `pg_aggregate`.
    AGGREGATES "facts/aggregates.tsv";
    /// The btree rows of `pg_opclass`.
    OPERATOR_CLASSES "facts/operator_classes.tsv";
    /// The btree rows of `pg_opfamily`.
    OPERATOR_FAMILIES "facts/operator_families.tsv";
    /// The btree rows of `pg_amop`.
    FAMILY_OPERATORS "facts/family_operators.tsv";
    /// The btree rows of `pg_amproc`.
    FAMILY_FUNCTIONS "facts/family_functions.tsv";
    /// The rows of `pg_cast`.
    CASTS "facts/casts.tsv";
    /// The rows of `pg_get_keywords()`.
    KEYWORDS "facts/keywords.tsv";
    /// The rows of `pg_proc`.
    FUNCTIONS "facts/functions.tsv";
    /// Every relation: name, OID, kind, columns.
    RELATIONS "facts/relations.tsv";
    /// The rows of `pg_operator`.
    OPERATORS "facts/operators.tsv";
}

/// A function, aggregate or window function.
#[derive(Debug)]
pub struct Function {
    /// OID in `pg_proc`.
    pub oid: Oid,
    /// Name, without a schema.
    pub name: &'static str,
    /// `f` for functions, `a` for aggregates, `w` for window functions.
    pub kind: &'static str,
    /// Whether it returns a set of rows.
    pub rows: bool,
    /// Types of the input arguments.
    pub arguments: Vec<Oid>,
    /// Type of the result.
    pub result: Oid,
    /// The row of `pg_proc`.
    pub row: Row,
}

impl Function {
    /// Types of all arguments, including output ones. Empty if it has no output arguments.
    pub fn all_types(&self) -> Vec<Oid> {
        self.row.oids(16)
    }
    /// The modes of all arguments: `i`, `o`, `b`, `v`, `t`.
    pub fn modes(&self) -> Vec<char> {
        self.row.field(17).map_or_else(Vec::new, |modes| modes.chars().filter(char::is_ascii_alphabetic).collect())
    }
    /// The names of all arguments. An unnamed one is empty.
    pub fn names(&self) -> Vec<String> {
        let list = self.row.field(18).unwrap_or("{}").trim_matches(['{', '}']);
        list.split(',').map(|name| name.trim_matches('"').to_string()).collect()
    }
}

/// Every function of PostgreSQL, sorted by OID.
pub static ALL_FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let function = |row: &Row| Function {
        oid: row.oid(0),
        name: row.field(1).unwrap_or_default(),
        kind: row.field(7).unwrap_or_default(),
        rows: row.field(10) == Some("t"),
        arguments: row.oids(15),
        result: row.oid(14),
        row: *row,
    };
    FUNCTIONS.rows.iter().map(function).collect()
});

/// A prefix or binary operator.
#[derive(Debug)]
pub struct Operator {
    /// OID in `pg_operator`.
    pub oid: Oid,
    /// The symbol.
    pub name: &'static str,
    /// The type of the left operand. 0 for a prefix operator.
    pub left: Oid,
    /// Type of the right operand.
    pub right: Oid,
    /// Type of the result.
    pub result: Oid,
    /// The row of `pg_operator`.
    pub row: Row,
}

/// Every operator of PostgreSQL, sorted by OID.
pub static ALL_OPERATORS: LazyLock<Vec<Operator>> = LazyLock::new(|| {
    let operator = |row: &Row| Operator {
        oid: row.oid(0),
        name: row.field(1).unwrap_or_default(),
        left: row.oid(5),
        right: row.oid(6),
        result: row.oid(7),
        row: *row,
    };
    OPERATORS.rows.iter().map(operator).collect()
});

fn places<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, name) in names.enumerate() {
        places.entry(name).or_default().push(at);
    }
    places
}

static FUNCTION_NAMES: LazyLock<HashMap<&'static str, Vec<usize>>> =
    LazyLock::new(|| places(ALL_FUNCTIONS.iter().map(|function| function.name)));
static OPERATOR_NAMES: LazyLock<HashMap<&'static str, Vec<usize>>> =
    LazyLock::new(|| places(ALL_OPERATORS.iter().map(|operator| operator.name)));

/// The functions, aggregates and window functions of a name.
pub fn functions_of(name: &str) -> impl Iterator<Item = &'static Function> {
    let places = FUNCTION_NAMES.get(name).map_or(&[][..], Vec::as_slice);
    places.iter().filter_map(|at| ALL_FUNCTIONS.get(*at))
}

/// The operators of this name.
pub fn operators_of(name: &str) -> impl Iterator<Item = &'static Operator> + Clone {
    let places = OPERATOR_NAMES.get(name).map_or(&[][..], Vec::as_slice);
    places.iter().filter_map(|at| ALL_OPERATORS.get(*at))
}

/// The number of PostgreSQL's functions with a name, supported or not. It decides whether a name is ambiguous.
pub fn functions_named(name: &str) -> usize {
    FUNCTION_NAMES.get(name).map_or(0, Vec::len)
}

/// The number of PostgreSQL's operators with a name, supported or not.
pub fn operators_named(name: &str) -> usize {
    OPERATOR_NAMES.get(name).map_or(0, Vec::len)
}

/// The OID of a pseudo-type.
pub fn pseudo_type_named(name: &str) -> Option<Oid> {
    PSEUDO_TYPES.iter().find(|(_, known)| **known == name).map(|(oid, _)| *oid)
}

/// The name of a pseudo-type.
pub fn pseudo_type(oid: Oid) -> Option<&'static str> {
    PSEUDO_TYPES.get(&oid).copied()
}

/// The SQL name of a type of PostgreSQL, supported or not.
pub fn type_name(oid: Oid) -> Option<String> {
    let row = TYPES.rows.iter().find(|row| row.oid(0) == oid && oid != 0)?;
    let name = row.field(1)?;
    Some(match name.strip_prefix('_').filter(|_| row.field(5) == Some("A")) {
        Some(_) => format!("{}[]", type_name(row.oid(9))?),
        None if name == "varbit" => "bit varying".to_string(),
        None if name == "bit" => name.to_string(),
        None => quote(name),
    })
}

static PSEUDO_TYPES: LazyLock<HashMap<Oid, &'static str>> = LazyLock::new(|| {
    let pseudo = TYPES.rows.iter().filter(|row| row.field(4) == Some("p"));
    pseudo.filter_map(|row| Some((row.oid(0), row.field(1)?))).collect()
});

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let upper = ALL_FUNCTIONS.iter().find(|function| function.oid == 871).unwrap();
        assert_eq!((upper.name, upper.kind, upper.result), ("upper", "f", 25));
        assert_eq!(upper.arguments, [25]);
        let expand = ALL_FUNCTIONS.iter().find(|function| function.name == "pg_get_keywords").unwrap();
        assert_eq!(expand.modes(), ['o'; 5]);
        assert_eq!(expand.names(), ["word", "catcode", "barelabel", "catdesc", "baredesc"]);
        assert!(expand.rows);
        let plus = ALL_OPERATORS.iter().find(|operator| operator.oid == 551).unwrap();
        assert_eq!((plus.name, plus.left, plus.right, plus.result), ("+", 23, 23, 23));
        assert_eq!(functions_named("upper"), 3);
        assert_eq!(pseudo_type_named("anyarray"), Some(2277));
        assert_eq!(unescape("a\\tb\\\\n"), "a\tb\\n");
    }
}
