//! The names of the parameters of PostgreSQL's functions, and the defaults of omitted ones. Must not know
//! how calls are bound.

use crate::Stability;
use builtin::{ALL_FUNCTIONS, Function};
use std::collections::HashMap;
use types::{Oid, SqlType};

/// The input parameters of a function of PostgreSQL.
pub struct Signature {
    /// The names of the parameters. An unnamed one is empty.
    pub names: Vec<String>,
    /// The types of the parameters. `None` for an unsupported type or a pseudo-type.
    pub types: Vec<Option<SqlType>>,
    /// The defaults of the last parameters, as constants to be cast from text.
    pub defaults: Vec<&'static str>,
}

impl Signature {
    fn of(function: &'static Function) -> Signature {
        let modes = function.modes();
        let goes_in = |at: usize| modes.get(at).is_none_or(|mode| matches!(mode, 'i' | 'b'));
        let names = function.names().into_iter().enumerate().filter(|(at, _)| goes_in(*at)).map(|(_, name)| name);
        let mut names: Vec<String> = names.collect();
        names.resize(function.arguments.len(), String::new());
        let defaults = function.row.field(19).unwrap_or_default().split(", ").filter(|text| !text.is_empty());
        // `'{}'::jsonb` becomes the text between the quotes. Other defaults stay as they are.
        let bare =
            |text: &'static str| text.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(text, _)| text);
        Signature {
            names,
            types: function.arguments.iter().map(|oid| SqlType::from_oid(*oid)).collect(),
            defaults: defaults.map(|text| bare(text).unwrap_or(text)).collect(),
        }
    }

    /// The default of a parameter, if it has one.
    pub fn default(&self, at: usize) -> Option<&'static str> {
        at.checked_sub(self.types.len().checked_sub(self.defaults.len())?).and_then(|at| self.defaults.get(at)).copied()
    }
}

/// The signatures of the functions of a name that accept named arguments. Variadic functions do not.
pub fn signatures(name: &str) -> impl Iterator<Item = Signature> {
    let fixed = |function: &&'static Function| function.kind == "f" && function.row.oid(5) == 0;
    ALL_FUNCTIONS.iter().filter(move |function| function.name == name).filter(fixed).map(Signature::of)
}

/// Functions that are not immutable, by name: their argument types and their volatility.
pub fn kept() -> HashMap<&'static str, Vec<(&'static [Oid], Stability)>> {
    let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
    for function in ALL_FUNCTIONS.iter() {
        let stability = match function.row.field(11) {
            Some("s") => Stability::Stable,
            Some("v") => Stability::Volatile,
            _ => continue,
        };
        by_name.entry(function.name).or_default().push((&function.arguments[..], stability));
    }
    by_name
}

/// Functions by name: their argument types, and whether they are strict (NULL for a NULL argument).
pub fn strict() -> HashMap<&'static str, Vec<(&'static [Oid], bool)>> {
    let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
    for function in ALL_FUNCTIONS.iter().filter(|function| function.kind == "f") {
        by_name.entry(function.name).or_default().push((&function.arguments[..], function.row.field(9) == Some("t")));
    }
    by_name
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn strict_functions_are_those_of_postgresql() {
        use crate::registry::all;
        for (name, strict) in
            [("textcat", true), ("substr", true), ("concat", false), ("format", false), ("nextval", true)]
        {
            let mut found = all().filter(|function| function.name == name).peekable();
            assert!(found.peek().is_some() && found.all(|function| function.strict == strict), "{name}");
        }
    }

    #[test]
    fn results_are_kept_no_longer_than_postgresql_says() {
        use crate::registry::all;
        for (name, longest) in [("to_date", Stability::Stable), ("nextval", Stability::Volatile)] {
            let mut found = all().filter(|function| function.name == name).peekable();
            assert!(found.peek().is_some() && found.all(|function| function.stability == longest), "{name}");
        }
        assert!(all().any(|function| function.name == "upper" && function.stability == Stability::Immutable));
    }

    #[test]
    fn parameters_have_names_and_defaults() {
        let query = signatures("jsonb_path_query").next().unwrap();
        assert_eq!(query.names, ["target", "path", "vars", "silent"]);
        assert_eq!(query.types.get(1), Some(&Some(SqlType::JSONPATH)));
        assert_eq!([1, 2, 3].map(|at| query.default(at)), [None, Some("{}"), Some("false")]);
        assert_eq!(signatures("make_interval").next().unwrap().default(6), Some("0.0"));
        // Output arguments are omitted, and variadic functions have no named arguments.
        assert_eq!(signatures("json_each").next().unwrap().names, ["from_json"]);
        assert_eq!(signatures("json_extract_path").count(), 0);
    }
}
