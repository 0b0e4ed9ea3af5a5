//! Resolves calls by PostgreSQL's own lists of functions and operators. A call without a match is an error, and so is
//! an ambiguous one. Unknown strings get the types of the chosen function. Then the call is resolved by our own
//! functions, which know fewer types.

use super::operator::no_operator;
use super::{CastContext, Resolver, TypedExpr, operator, operator_names, registry};
use builtin::overload_resolution::{self, Choice, Kind};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use sql_error::{Result, SqlError, state};
use types::{BaseType, Oid, SqlType};

/// The implementation of [`Resolver::function`].
pub(super) fn function(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
    // A type's name before a string is a cast: `text('x')`, `date('2020-01-01')`.
    let cast = matches!(types.as_slice(), [SqlType::UNKNOWN]) && registry::type_called(name).is_some();
    if cast || registry::has_own_rules(name) {
        return registry::resolve(resolver, name, args);
    }
    match overload_resolution::function(resolver.catalog, name, &types, Kind::Plain) {
        Choice::Missing => Err(resolver.no_function(name, &args)),
        Choice::Ambiguous => Err(ambiguous("function", &format!("{name}({})", names(&types)))),
        Choice::Unlisted | Choice::Undetermined => registry::resolve(resolver, name, args),
        Choice::Chosen { function, arguments, elements_from } => {
            let args = settled(resolver, args, &arguments)?;
            if args.len() > 1
                && let Some(cast) = operator_names::modified(resolver, name, &args)?
            {
                return Ok(cast);
            }
            if registry::is_listed(name)
                && takes(&args, &arguments, |args| registry::resolve(resolver, name, args).is_ok())
            {
                return registry::resolve(resolver, name, args);
            }
            otherwise(resolver, name, function, elements_from, args, &arguments)
        }
    }
}

/// A call whose function is not implemented here under this name, or not for these types.
fn otherwise(
    resolver: &Resolver<'_>,
    name: &str,
    function: Oid,
    elements_from: Option<usize>,
    args: Vec<TypedExpr>,
    declared: &[Option<SqlType>],
) -> Result<TypedExpr> {
    let mut args = brought(resolver, args, declared)?;
    if registry::is_listed(name) && operates(&args, |args| registry::resolve(resolver, name, args).is_ok()) {
        return registry::resolve(resolver, name, args);
    }
    if let Some(place) = elements_from.filter(|place| args.len() > *place) {
        let elements = args.split_off(place);
        args.push(resolver.array(elements)?);
    }
    match operator_names::resolve(resolver, name, function, &args)? {
        Some(call) => Ok(call),
        None => registry::resolve(resolver, name, args),
    }
}

/// Converts arguments to the types of a function of some kind. Errors: 42883, 42725.
pub(super) fn arguments(
    resolver: &Resolver<'_>,
    name: &str,
    args: Vec<TypedExpr>,
    kind: Kind,
) -> Result<Vec<TypedExpr>> {
    let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
    match overload_resolution::function(resolver.catalog, name, &types, kind) {
        Choice::Missing => Err(resolver.no_function(name, &args)),
        Choice::Ambiguous => Err(ambiguous("function", &format!("{name}({})", names(&types)))),
        Choice::Unlisted | Choice::Undetermined => Ok(args),
        Choice::Chosen { arguments, .. } => brought(resolver, args, &arguments),
    }
}

/// A call of a variadic function that is implemented under another name. The last argument becomes an array. `None` if
/// there is no such function.
pub(super) fn spread(resolver: &Resolver<'_>, name: &str, args: &[TypedExpr]) -> Result<Option<TypedExpr>> {
    let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
    match overload_resolution::function(resolver.catalog, name, &types, Kind::Spread) {
        Choice::Chosen { function, arguments, .. } => {
            let args = brought(resolver, args.to_vec(), &arguments)?;
            operator_names::resolve(resolver, name, function, &args)
        }
        _ => Ok(None),
    }
}

/// The implementation of [`Resolver::operator`].
pub(super) fn operator(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: Option<TypedExpr>,
    right: TypedExpr,
) -> Result<TypedExpr> {
    let symbol = match symbol {
        "LIKE" => "~~",
        "NOT LIKE" => "!~~",
        "ILIKE" => "~~*",
        "NOT ILIKE" => "!~~*",
        "!=" => "<>",
        other => other,
    };
    let left_type = left.as_ref().map(|left| left.ty);
    if is_plain(symbol, left_type, right.ty) {
        return operator::resolve(resolver, symbol, left, right);
    }
    // Distinctness is decided by the types' equality operator.
    let listed = if matches!(symbol, "IS DISTINCT FROM" | "IS NOT DISTINCT FROM") { "=" } else { symbol };
    match overload_resolution::operator(resolver.catalog, listed, left_type, right.ty) {
        Choice::Unlisted | Choice::Undetermined => operator::resolve(resolver, symbol, left, right),
        Choice::Missing => Err(no_operator(listed, left_type, right.ty)),
        Choice::Ambiguous => {
            let left = left_type.map(|ty| ty.name() + " ").unwrap_or_default();
            Err(ambiguous("operator", &format!("{left}{listed} {}", right.ty.name())))
        }
        Choice::Chosen { arguments, .. } => {
            let resolve = |mut operands: Vec<TypedExpr>| match operands.pop() {
                Some(right) => operator::resolve(resolver, symbol, operands.pop(), right),
                None => Err(SqlError::internal("an operator without operands")),
            };
            let operands: Vec<TypedExpr> = left.into_iter().chain([right]).collect();
            // The other operand of a comparison gets the column's own type, which its indexes have.
            let column = super::comparison::comparison_operator(symbol).is_some();
            let vector = arguments.iter().flatten().any(|ty| ty.is_vector());
            let operands = if column && !vector { operands } else { settled(resolver, operands, &arguments)? };
            if takes(&operands, &arguments, |operands| resolve(operands).is_ok()) {
                return resolve(operands);
            }
            resolve(brought(resolver, operands, &arguments)?)
        }
    }
}

/// The type to which the chosen operator converts the left operand. It is the operand's own type if there is no
/// conversion.
pub(super) fn left_operand_type(resolver: &Resolver<'_>, symbol: &str, left: SqlType, right: SqlType) -> SqlType {
    let own = match (left, right) {
        (SqlType::UNKNOWN, SqlType::UNKNOWN) => SqlType::TEXT,
        (SqlType::UNKNOWN, right) => right.plain(),
        (left, _) => left,
    };
    match overload_resolution::operator(resolver.catalog, symbol, Some(left), right) {
        Choice::Chosen { arguments, .. } => match arguments.first() {
            Some(Some(ty)) if ty.base != own.base || ty.array != own.array => *ty,
            _ => own,
        },
        _ => own,
    }
}

/// The operand types of the operator that `left symbol ANY (array)` applies to each element. `None` if several
/// operators match. Errors: 42883, 42725.
pub(super) fn element_operator(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: SqlType,
    element: SqlType,
) -> Result<Option<(SqlType, SqlType)>> {
    match overload_resolution::operator(resolver.catalog, symbol, Some(left), element) {
        Choice::Missing => Err(no_operator(symbol, Some(left), element)),
        Choice::Ambiguous => Err(ambiguous("operator", &format!("{} {symbol} {}", left.name(), element.name()))),
        Choice::Chosen { arguments, .. } => Ok(match arguments.as_slice() {
            [Some(left), Some(right)] => Some((*left, *right)),
            _ => None,
        }),
        _ => Ok(None),
    }
}

/// Whether the operands have the most frequent types, which need no search.
fn is_plain(symbol: &str, left: Option<SqlType>, right: SqlType) -> bool {
    let Some(left) = left else { return right.is_number() };
    let compares = super::comparison::comparison_operator(symbol).is_some();
    let plain = |ty: SqlType| !ty.array && !matches!(ty.base, BaseType::Record(_) | BaseType::SingleChar);
    let text = |ty: SqlType| !ty.array && matches!(ty.base, BaseType::Text | BaseType::Varchar);
    (left.is_number() && right.is_number() && (compares || matches!(symbol, "+" | "-" | "*" | "/")))
        || (compares && left.base == right.base && plain(left) && plain(right))
        || (text(left) && text(right))
}

fn names(types: &[SqlType]) -> String {
    types.iter().map(SqlType::name).collect::<Vec<_>>().join(", ")
}

fn ambiguous(kind: &str, shown: &str) -> SqlError {
    let (message, hint) = match kind {
        "function" => (format!("function {shown} is not unique"), "Could not choose a best candidate function."),
        _ => (format!("operator is not unique: {shown}"), "Could not choose a best candidate operator."),
    };
    SqlError::new(state::AMBIGUOUS_FUNCTION, message).hint(format!("{hint} You might need to add explicit type casts."))
}

/// Converts arguments of unknown type to the chosen function's types.
fn settled(resolver: &Resolver<'_>, args: Vec<TypedExpr>, declared: &[Option<SqlType>]) -> Result<Vec<TypedExpr>> {
    let settle = |(at, arg): (usize, TypedExpr)| match declared.get(at) {
        Some(Some(ty)) if arg.is_unknown() => resolver.cast(arg, *ty, CastContext::Implicit),
        _ => Ok(arg),
    };
    args.into_iter().enumerate().map(settle).collect()
}

/// Converts all arguments to the chosen function's types.
fn brought(resolver: &Resolver<'_>, args: Vec<TypedExpr>, declared: &[Option<SqlType>]) -> Result<Vec<TypedExpr>> {
    let bring = |(at, arg): (usize, TypedExpr)| match declared.get(at) {
        Some(Some(ty)) => resolver.cast(arg, *ty, CastContext::Implicit),
        _ => Ok(arg),
    };
    args.into_iter().enumerate().map(bring).collect()
}

/// Whether our function accepts the arguments as they are. They have the chosen function's types, or resolution
/// succeeds for values of their types.
fn takes(args: &[TypedExpr], declared: &[Option<SqlType>], resolve: impl Fn(Vec<TypedExpr>) -> bool) -> bool {
    let same = |(arg, declared): (&TypedExpr, &Option<SqlType>)| match declared {
        Some(ty) => arg.is_unknown() || (arg.ty.base == ty.base && arg.ty.array == ty.array),
        None => true,
    };
    args.iter().zip(declared).all(same) || operates(args, resolve)
}

/// Whether our function accepts values of the arguments' types.
fn operates(args: &[TypedExpr], resolve: impl Fn(Vec<TypedExpr>) -> bool) -> bool {
    let stand_in = |arg: &TypedExpr| TypedExpr::new(Expr::Column(Column::from_name("value")), arg.ty);
    resolve(args.iter().map(stand_in).collect())
}
