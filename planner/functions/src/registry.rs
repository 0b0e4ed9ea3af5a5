//! Scalar functions by name, and overload resolution (manual, 10.3).
//!
//! Other modules add functions through [`tables`]. A [`ScalarFunction`] is plain data with a kernel.

use super::array::compatible::NAMES as COMPATIBLE;
use super::cast::{cast_exists, category, preferred};
use super::enumeration::NAMES as ENUMERATIONS;
use super::kernel::{Kernel, KernelFunction, Stability};
use super::{CastContext, Resolver, TypedExpr};
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use types::{BaseType, Oid, SqlType};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// This type, or a type that converts to it implicitly.
    Is(SqlType),
    /// Any type (`"any"`); unknown becomes text.
    Any,
    /// An array of any element type.
    AnyArray,
}

/// The type of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// A fixed result type.
    Is(SqlType),
    /// The type of the argument at this index.
    Argument(usize),
    /// The element type of the array argument at this index.
    Element(usize),
    /// The array type of the argument at this index.
    ArrayOf(usize),
}

/// A scalar function: its signature and kernel.
#[derive(Clone)]
pub struct ScalarFunction {
    /// Name without a schema.
    pub name: &'static str,
    /// Parameters. With `variadic`, the last one repeats: at least once, unless it is `Any`.
    pub arguments: Vec<Param>,
    /// Whether the last parameter repeats.
    pub variadic: bool,
    /// Type of the result.
    pub result: ResultType,
    /// How long the result stays valid.
    pub stability: Stability,
    /// Whether the result is NULL if an argument is, by PostgreSQL's catalog.
    pub strict: bool,
    /// The function's computation over a batch.
    pub kernel: Kernel,
}

impl ScalarFunction {
    /// A function whose parameters and result have fixed types.
    pub fn new(
        name: &'static str,
        arguments: &[SqlType],
        result: SqlType,
        stability: Stability,
        kernel: Kernel,
    ) -> Self {
        ScalarFunction {
            name,
            arguments: arguments.iter().map(|ty| Param::Is(*ty)).collect(),
            variadic: false,
            result: ResultType::Is(result),
            stability,
            strict: false,
            kernel,
        }
    }
    /// A function with polymorphic parameters.
    pub fn polymorphic(
        name: &'static str,
        arguments: &[Param],
        variadic: bool,
        result: ResultType,
        stability: Stability,
        kernel: Kernel,
    ) -> Self {
        ScalarFunction { name, arguments: arguments.to_vec(), variadic, result, stability, strict: false, kernel }
    }

    /// Whether the parameters have these types of PostgreSQL.
    fn is_of(&self, types: &[Oid]) -> bool {
        let same = |(parameter, oid): (&Param, &Oid)| match parameter {
            Param::Is(ty) => ty.oid() == *oid,
            // Pseudo-types do not exist here.
            Param::Any | Param::AnyArray => SqlType::from_oid(*oid).is_none(),
        };
        types.len() == self.arguments.len() && self.arguments.iter().zip(types).all(same)
    }

    fn parameter(&self, at: usize) -> Option<Param> {
        match self.arguments.get(at) {
            Some(parameter) => Some(*parameter),
            None if self.variadic => self.arguments.last().copied(),
            None => None,
        }
    }

    fn takes(&self, count: usize) -> bool {
        if self.variadic { count >= self.arguments.len() } else { count == self.arguments.len() }
    }
}

/// The tables of functions. A module with functions adds a line here.
fn tables() -> Vec<Vec<ScalarFunction>> {
    vec![
        super::math::functions(),
        super::width_bucket::functions(),
        super::string::functions(),
        super::time::functions(),
        super::array::functions(),
        super::json::functions(),
        super::options::functions(),
        super::random::functions(),
        super::session::functions(),
        super::advisory::functions(),
        super::size::functions(),
        super::hash::functions(),
        super::sequence::functions(),
        super::large_object::functions(),
        crate::catalog_functions::scalar(),
    ]
}

static REGISTRY: LazyLock<HashMap<&'static str, Vec<ScalarFunction>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&'static str, Vec<ScalarFunction>> = HashMap::new();
    let kept = crate::signature::kept();
    let strict = crate::signature::strict();
    for mut function in tables().into_iter().flatten() {
        // PostgreSQL's catalog gives the volatility: plans and indexes rely on it.
        let same = kept.get(function.name).into_iter().flatten().find(|(types, _)| function.is_of(types));
        function.stability = same.map_or(function.stability, |(_, longest)| function.stability.max(*longest));
        let listed = strict.get(function.name).map_or(&[][..], Vec::as_slice);
        let alike = |types: &[Oid]| types.len() == function.arguments.len();
        function.strict = match listed.iter().find(|(types, _)| function.is_of(types)) {
            Some((_, strict)) => *strict,
            // The catalog has other types: use the property of all functions with the same name and number of
            // arguments.
            None => {
                let mut others = listed.iter().filter(|(types, _)| alike(types)).peekable();
                others.peek().is_some() && others.all(|(_, strict)| *strict)
            }
        };
        by_name.entry(function.name).or_default().push(function);
    }
    by_name
});

/// Functions with resolution rules of their own.
const SPECIAL: [&str; 3] = ["greatest", "least", "numeric_key"];

/// Whether a scalar function with this name exists.
pub fn exists(name: &str) -> bool {
    let by_rules = SPECIAL.contains(&name) || COMPATIBLE.contains(&name) || ENUMERATIONS.contains(&name);
    by_rules || super::operator_names::exists(name) || (REGISTRY.contains_key(name) && !is_internal(name))
}

/// Whether this registry has functions of this name.
pub(super) fn is_listed(name: &str) -> bool {
    ENUMERATIONS.contains(&name) || COMPATIBLE.contains(&name) || REGISTRY.contains_key(name) || type_function(name)
}

/// Whether a name is a type's name, so that a call is a cast.
fn type_function(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && type_called(name).is_some()
}

/// The type that a function of this name casts to. In a call, a type has its catalog name.
pub(super) fn type_called(name: &str) -> Option<SqlType> {
    if name == "char" { Some(SqlType::SINGLE_CHAR) } else { types::type_named(name) }
}

/// Whether functions of this name have resolution rules of their own, which no catalog lists.
pub(super) fn has_own_rules(name: &str) -> bool {
    SPECIAL.contains(&name) || ENUMERATIONS.contains(&name) || is_internal(name)
}

/// Whether a function is internal to PercoSQL: its name contains a space.
pub fn is_internal(name: &str) -> bool {
    name.contains(' ')
}

/// All functions, for pg_proc.
pub fn all() -> impl Iterator<Item = &'static ScalarFunction> {
    REGISTRY.values().flatten().filter(|function| !is_internal(function.name))
}

/// The variadic function with this name.
pub(super) fn variadic_named(name: &str) -> Option<&'static ScalarFunction> {
    REGISTRY.get(name)?.iter().find(|function| function.variadic)
}

/// The kernel of the only function with this name.
pub(super) fn kernel_named(name: &str) -> Option<Kernel> {
    match REGISTRY.get(name)?.as_slice() {
        [function] => Some(Arc::clone(&function.kernel)),
        _ => None,
    }
}

/// The implementation of [`Resolver::function`].
pub(super) fn resolve(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    match name {
        "greatest" | "least" => return super::array::extreme(resolver, name, args),
        "numeric_key" if args.len() == 1 => {
            return Ok(args.into_iter().next().map_or_else(TypedExpr::null, super::comparison::numeric_key));
        }
        name if ENUMERATIONS.contains(&name) => return super::enumeration::resolve(resolver, name, args),
        name if COMPATIBLE.contains(&name) && !(name == "width_bucket" && args.len() != 2) => {
            return super::array::compatible::resolve(resolver, name, args);
        }
        _ => {}
    }
    let Some(candidates) = REGISTRY.get(name) else {
        // A type's name called as a function is a cast: `text(x)`, `int4(x)`.
        return match (type_called(name), args.as_slice()) {
            // A record converts to text only by a cast.
            (Some(ty), [arg]) if arg.ty.as_record().is_none() => {
                resolver.cast(arg.clone(), ty.plain(), CastContext::Explicit)
            }
            _ => Err(resolver.no_function(name, &args)),
        };
    };
    let function = choose(resolver, name, candidates, &args)?;
    call(resolver, function, args)
}

/// Converts the arguments to a function's parameters and makes the call.
fn call(resolver: &Resolver<'_>, function: &ScalarFunction, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let mut arguments = Vec::with_capacity(args.len());
    let mut types = Vec::with_capacity(args.len());
    for (at, arg) in args.into_iter().enumerate() {
        let arg = match function.parameter(at) {
            Some(Param::Is(ty)) => resolver.cast(arg, ty, CastContext::Implicit)?,
            Some(Param::AnyArray) if arg.is_unknown() => {
                return Err(untyped_element());
            }
            _ => {
                let open = resolver.open_parameter(&arg);
                match (open, function.result, function.name) {
                    (None, ..) => resolver.resolve_unknown(arg)?,
                    // "any" determines no type for a parameter; the function's result type may.
                    (Some(number), ResultType::Is(_), name) if !matches!(name, "to_json" | "to_jsonb") => {
                        return Err(super::parameters::undetermined(number).of_values());
                    }
                    _ => return Err(untyped_element()),
                }
            }
        };
        types.push(if arg.ty.is_vector() { arg.ty } else { arg.ty.plain() });
        arguments.push(arg.expr);
    }
    let of = |at: usize| types.get(at).copied().unwrap_or(SqlType::TEXT);
    let result = match function.result {
        ResultType::Is(ty) => ty,
        ResultType::Argument(at) => of(at),
        ResultType::Element(at) => of(at).element(),
        ResultType::ArrayOf(at) => of(at).array_of(),
    };
    let slots = (function.stability != Stability::Immutable).then(|| Arc::clone(resolver.slots));
    let kernel = Arc::clone(&function.kernel);
    let made = KernelFunction::new(function.name, types, result, function.stability, kernel, slots);
    Ok(made.strict(function.strict).with_ctype(resolver.ctype()).call(arguments))
}

/// The error 42804: no argument determines the polymorphic type.
fn untyped_element() -> SqlError {
    let message = "could not determine polymorphic type because input has type unknown";
    SqlError::new(state::DATATYPE_MISMATCH, message).of_values()
}

/// Whether an argument of this type fits a parameter.
fn fits(arg: SqlType, parameter: Param) -> bool {
    match parameter {
        Param::Is(ty) => (arg.base == ty.base && arg.array == ty.array) || cast_exists(arg, ty, CastContext::Implicit),
        Param::Any => true,
        Param::AnyArray => arg.array || arg == SqlType::UNKNOWN,
    }
}

fn choose<'c>(
    resolver: &Resolver<'_>,
    name: &str,
    candidates: &'c [ScalarFunction],
    args: &[TypedExpr],
) -> Result<&'c ScalarFunction> {
    let types: Vec<SqlType> = args.iter().map(|arg| arg.ty.plain()).collect();
    let mut left: Vec<&ScalarFunction> = candidates
        .iter()
        .filter(|function| {
            function.takes(types.len())
                && types
                    .iter()
                    .enumerate()
                    .all(|(at, ty)| function.parameter(at).is_some_and(|parameter| fits(*ty, parameter)))
        })
        .collect();
    let exact = |function: &ScalarFunction, assume_unknown: bool| {
        types
            .iter()
            .enumerate()
            .all(|(at, ty)| function.parameter(at) == Some(Param::Is(*ty)) || assume_unknown && *ty == SqlType::UNKNOWN)
    };
    if let Some(function) = left.iter().find(|function| exact(function, false)) {
        return Ok(function);
    }
    if left.len() <= 1 {
        return left.pop().ok_or_else(|| resolver.no_function(name, args));
    }
    // Prefer most exact matches, then most preferred types among conversions.
    let keep_best = |left: &mut Vec<&'c ScalarFunction>, score: &dyn Fn(&ScalarFunction) -> usize| {
        let best = left.iter().map(|function| score(function)).max().unwrap_or(0);
        left.retain(|function| score(function) == best);
    };
    let base = |ty: SqlType| {
        if ty.base == BaseType::Varchar { SqlType::TEXT } else { ty }
    };
    keep_best(&mut left, &|function| {
        types.iter().enumerate().filter(|(at, ty)| function.parameter(*at) == Some(Param::Is(base(**ty)))).count()
    });
    keep_best(&mut left, &|function| {
        types
            .iter()
            .enumerate()
            .filter(|(at, ty)| match function.parameter(*at) {
                Some(Param::Is(parameter)) => {
                    parameter == base(**ty)
                        || (**ty != SqlType::UNKNOWN && preferred(parameter) && category(parameter) == category(**ty))
                }
                _ => false,
            })
            .count()
    });
    if left.len() > 1 {
        by_unknowns(&types, &mut left);
    }
    if left.len() > 1 {
        // Assume that unknown arguments have the type of the known ones, if these agree.
        let mut known = types.iter().filter(|ty| **ty != SqlType::UNKNOWN);
        if let Some(first) = known.next()
            && known.all(|ty| ty == first)
        {
            let takes = |function: &&&ScalarFunction| {
                (0..types.len()).all(|at| function.parameter(at).is_some_and(|parameter| fits(*first, parameter)))
            };
            let mut fitting = left.iter().filter(takes);
            if let (Some(function), None) = (fitting.next(), fitting.next()) {
                return Ok(function);
            }
        }
    }
    match left.as_slice() {
        [function] => Ok(function),
        [] => Err(resolver.no_function(name, args)),
        _ => {
            let types: Vec<String> = types.iter().map(SqlType::name).collect();
            Err(SqlError::new(
                state::AMBIGUOUS_FUNCTION,
                format!("function {name}({}) is not unique", types.join(", ")),
            )
            .hint("Could not choose a best candidate function. You might need to add explicit type casts."))
        }
    }
}

/// Applies step 4e of the manual, 10.3: keeps candidates whose parameters agree with the unknown arguments. Each
/// argument gets the category string if any candidate accepts it, otherwise the common category. Within a category, a
/// preferred type wins. If a category is not agreed on, all candidates stay.
fn by_unknowns(types: &[SqlType], left: &mut Vec<&ScalarFunction>) {
    // The category of pseudo-types.
    const ANY: char = 'P';
    let unknown = || types.iter().enumerate().filter(|(_, ty)| **ty == SqlType::UNKNOWN).map(|(at, _)| at);
    let taken = |function: &ScalarFunction, at: usize| match function.parameter(at) {
        Some(Param::Is(ty)) => (category(ty), preferred(ty)),
        _ => (ANY, false),
    };
    let mut agreed = Vec::new();
    for at in unknown() {
        let all: Vec<(char, bool)> = left.iter().map(|function| taken(function, at)).collect();
        let string = all.iter().any(|(category, _)| *category == 'S');
        let wanted = if string { 'S' } else { all.first().map_or(ANY, |(category, _)| *category) };
        if !string && all.iter().any(|(category, _)| *category != wanted) {
            return;
        }
        agreed.push((at, wanted, all.iter().any(|(category, preferred)| *category == wanted && *preferred)));
    }
    let agrees = |function: &&ScalarFunction| {
        agreed.iter().all(|(at, wanted, only_preferred)| {
            let (category, preferred) = taken(function, *at);
            category == *wanted && (preferred || !only_preferred)
        })
    };
    if left.iter().any(agrees) {
        left.retain(agrees);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_is_there_twice() {
        for (name, functions) in REGISTRY.iter() {
            for (at, function) in functions.iter().enumerate() {
                let twice = functions.iter().skip(at + 1).any(|other| other.arguments == function.arguments);
                assert!(!twice, "{name}({:?})", function.arguments);
            }
        }
    }
}
