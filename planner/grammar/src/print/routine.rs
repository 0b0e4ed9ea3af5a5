//! Writes references to routines, their parameters, and their clauses.

use super::role::setting_change;
use super::writer::{Print, Writer};
use crate::tree::{
    AlterFunction, FunctionOption, Parameter, ParameterMode, RoutineKind, RoutineReference, TypeName, Volatility,
};

impl Print for Parameter {
    fn print(&self, out: &mut Writer) {
        match self.mode {
            Some(ParameterMode::In) => out.word("IN"),
            Some(ParameterMode::Out) => out.word("OUT"),
            Some(ParameterMode::InOut) => out.word("INOUT"),
            Some(ParameterMode::Variadic) => out.word("VARIADIC"),
            None => out,
        };
        out.optional(&self.name).node(&self.data_type).clause("DEFAULT", &self.default);
    }
}

impl RoutineKind {
    /// Its word, in upper case.
    pub fn words(self) -> &'static str {
        match self {
            RoutineKind::Function => "FUNCTION",
            RoutineKind::Procedure => "PROCEDURE",
            RoutineKind::Routine => "ROUTINE",
            RoutineKind::Aggregate => "AGGREGATE",
        }
    }
}

impl Print for RoutineKind {
    fn print(&self, out: &mut Writer) {
        out.word(self.words());
    }
}

impl Print for RoutineReference {
    fn print(&self, out: &mut Writer) {
        reference(self, false, out);
    }
}

/// Writes a routine by its name and parameters. An aggregate without parameters has `*`.
pub(super) fn reference(routine: &RoutineReference, aggregate: bool, out: &mut Writer) {
    out.node(&routine.name);
    if let Some(parameters) = &routine.parameters {
        out.tie("(").list(parameters);
        if parameters.is_empty() && routine.ordered.is_empty() && aggregate {
            out.word("*");
        }
        out.list_clause("ORDER BY", &routine.ordered).close();
    }
}

impl Print for AlterFunction {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER").node(&self.kind).node(&self.function).sequence(&self.options);
    }
}

impl Print for FunctionOption {
    fn print(&self, out: &mut Writer) {
        match self {
            FunctionOption::As(sources, _) => {
                out.word("AS").each(sources, |out, source| {
                    out.string(source);
                });
            }
            FunctionOption::Language(name) => {
                out.word("LANGUAGE").node(name);
            }
            FunctionOption::Transform(types, _) => {
                out.word("TRANSFORM").each(types, |out, data_type: &TypeName| {
                    out.word("FOR TYPE").node(data_type);
                });
            }
            FunctionOption::Window(_) => {
                out.word("WINDOW");
            }
            FunctionOption::Strict(strict, _) => {
                out.either(*strict, "STRICT", "CALLED ON NULL INPUT");
            }
            FunctionOption::Volatility(volatility, _) => {
                out.word(match volatility {
                    Volatility::Immutable => "IMMUTABLE",
                    Volatility::Stable => "STABLE",
                    Volatility::Volatile => "VOLATILE",
                });
            }
            FunctionOption::SecurityDefiner(definer, _) => {
                out.either(*definer, "SECURITY DEFINER", "SECURITY INVOKER");
            }
            FunctionOption::Leakproof(leakproof, _) => {
                out.either(*leakproof, "LEAKPROOF", "NOT LEAKPROOF");
            }
            FunctionOption::Cost(number, _) => {
                out.word("COST").word(number);
            }
            FunctionOption::Rows(number, _) => {
                out.word("ROWS").word(number);
            }
            FunctionOption::Support(name, _) => {
                out.word("SUPPORT").node(name);
            }
            FunctionOption::Parallel(word) => {
                out.word("PARALLEL").node(word);
            }
            FunctionOption::Setting(change, _) => setting_change(change, out),
        }
    }
}
