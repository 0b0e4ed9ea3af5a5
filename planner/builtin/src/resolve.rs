//! PostgreSQL's choice of an operator or function for given argument types: chapter 10 of its manual over its own
//! lists. Knows no expressions.

use super::conversions::{Types, is_polymorphic, oid};
use crate::{Function, Operator, functions_of, operators_of};
use types::Oid;

/// The chosen operator or function, with resolved types.
#[derive(Debug)]
pub struct Chosen<T> {
    /// The operator or function itself.
    pub what: T,
    /// The types that its arguments are converted to. `any` leaves an argument unchanged.
    pub arguments: Vec<Oid>,
    /// The type of the result.
    pub result: Oid,
}

/// The reason why none was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// None accepts these types.
    Missing,
    /// Several accept them, and none of these fits best.
    Ambiguous,
    /// One accepts them, but strings do not determine its polymorphic types.
    Undetermined,
}

/// A candidate: an operator or function, with a declared type for each given argument.
struct Candidate<T> {
    what: T,
    declared: Vec<Oid>,
    result: Oid,
}

/// Chooses the operator of a name. Without a left type it is a prefix operator.
pub fn operator(
    types: Types<'_>,
    name: &str,
    left: Option<Oid>,
    right: Oid,
) -> Result<Chosen<&'static Operator>, Failure> {
    let given: Vec<Oid> = left.into_iter().chain([right]).collect();
    let of_kind = || operators_of(name).filter(move |operator| (operator.left == 0) == left.is_none());
    // An untyped string is first assumed to have the other operand's type.
    let (assumed_left, assumed_right) = match (left, right) {
        (Some(oid::UNKNOWN), other) | (Some(other), oid::UNKNOWN) => (other, other),
        (left, right) => (left.unwrap_or(0), right),
    };
    let exact = of_kind()
        .find(|operator| operator.left == assumed_left && operator.right == assumed_right)
        .filter(|_| !given.iter().all(unknown));
    let candidate = |operator: &'static Operator| Candidate {
        what: operator,
        declared: [operator.left, operator.right].into_iter().filter(|ty| *ty != 0).collect(),
        result: operator.result,
    };
    let chosen = match exact {
        Some(exact) => candidate(exact),
        None => choose(types, &given, of_kind().map(candidate).collect())?,
    };
    finish(types, chosen, &given)
}

/// Chooses the function of a name, of the kinds in `kinds` (`f`, `a`, `w`). With `spread` the last argument is the
/// array of a variadic function.
pub fn function(
    types: Types<'_>,
    name: &str,
    kinds: &str,
    given: &[Oid],
    spread: bool,
) -> Result<Chosen<&'static Function>, Failure> {
    let mut candidates: Vec<Candidate<&'static Function>> = Vec::new();
    for function in functions_of(name).filter(|function| kinds.contains(function.kind)) {
        let fixed = &function.arguments;
        let element = function.row.oid(5);
        let defaults = usize::try_from(function.row.oid(13)).unwrap_or(0);
        let mut declared = fixed.clone();
        if element != 0 && !spread {
            if given.len() + 1 < fixed.len() {
                continue;
            }
            declared.pop();
            declared.resize(given.len().max(fixed.len()), element);
            if given.len() < fixed.len() {
                continue;
            }
        } else if given.len() > fixed.len() || given.len() + defaults < fixed.len() {
            continue;
        }
        declared.truncate(given.len());
        let many = element != 0 && !spread;
        match candidates.iter_mut().find(|other| other.declared == declared) {
            // A function with fixed arguments takes precedence over a variadic one.
            Some(_) if many => {}
            Some(other) => other.what = function,
            None => candidates.push(Candidate { what: function, declared, result: function.result }),
        }
    }
    let exact = candidates.iter().position(|candidate| candidate.declared == given);
    let chosen = match exact {
        Some(at) => candidates.swap_remove(at),
        None => choose(types, given, candidates)?,
    };
    finish(types, chosen, given)
}

fn unknown(ty: &Oid) -> bool {
    *ty == oid::UNKNOWN
}

/// The single best candidate.
fn choose<T>(types: Types<'_>, given: &[Oid], mut all: Vec<Candidate<T>>) -> Result<Candidate<T>, Failure> {
    all.retain(|candidate| accepts(types, candidate, given));
    let at = best(types, given, &all)?;
    Ok(all.swap_remove(at))
}

/// Whether a candidate accepts arguments of these types.
fn accepts<T>(types: Types<'_>, candidate: &Candidate<T>, given: &[Oid]) -> bool {
    let mut pairs = given.iter().zip(&candidate.declared);
    candidate.declared.len() == given.len()
        && pairs.all(|(given, to)| types.becomes(*given, *to))
        && !matches!(actual(types, &candidate.declared, candidate.result, given), Err(Failure::Missing))
}

/// The index of the best candidate that accepts the arguments.
fn best<T>(types: Types<'_>, given: &[Oid], all: &[Candidate<T>]) -> Result<usize, Failure> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let declared = |at: usize, argument: usize| all.get(at).and_then(|found| found.declared.get(argument)).copied();
    // First the most exact matches, then the most exact matches or preferred types.
    keep_best(&mut left, |at| {
        let pairs = given.iter().enumerate();
        pairs.filter(|(argument, given)| !unknown(given) && declared(at, *argument) == Some(**given)).count()
    });
    keep_best(&mut left, |at| {
        let pairs = given.iter().enumerate().filter(|(_, given)| !unknown(given));
        pairs
            .filter(|(argument, given)| {
                let declared = declared(at, *argument).unwrap_or(0);
                declared == **given || types.is_preferred(types.category(**given), declared)
            })
            .count()
    });
    if left.len() <= 1 || !given.iter().any(unknown) {
        return single(&left);
    }
    let mut decided = true;
    let mut categories: Vec<Option<(char, bool)>> = Vec::new();
    for (argument, given) in given.iter().enumerate() {
        if !unknown(given) {
            categories.push(None);
            continue;
        }
        let of: Vec<Oid> = left.iter().filter_map(|at| declared(*at, argument)).collect();
        let kinds: Vec<char> = of.iter().map(|ty| types.category(*ty)).collect();
        let category = if kinds.contains(&'S') {
            'S'
        } else if let Some(first) = kinds.first().filter(|first| kinds.iter().all(|kind| kind == *first)) {
            *first
        } else {
            decided = false;
            break;
        };
        categories.push(Some((category, of.iter().any(|ty| types.is_preferred(category, *ty)))));
    }
    if decided {
        let accepted = |at: &usize| {
            categories.iter().enumerate().all(|(argument, category)| match category {
                None => true,
                Some((category, preferred)) => declared(*at, argument).is_some_and(|ty| {
                    types.category(ty) == *category && (!preferred || types.is_preferred(*category, ty))
                }),
            })
        };
        let kept: Vec<usize> = left.iter().copied().filter(accepted).collect();
        if !kept.is_empty() {
            left = kept;
        }
        if left.len() == 1 {
            return single(&left);
        }
    }
    // Untyped arguments are assumed to have the only known type.
    let mut known = given.iter().filter(|ty| !unknown(ty));
    let Some(first) = known.next().filter(|first| known.all(|other| other == *first)) else {
        return Err(Failure::Ambiguous);
    };
    let assumed = vec![*first; given.len()];
    left.retain(|at| all.get(*at).is_some_and(|candidate| accepts(types, candidate, &assumed)));
    single(&left).map_err(|_| Failure::Ambiguous)
}

fn keep_best(left: &mut Vec<usize>, score: impl Fn(usize) -> usize) {
    if left.len() > 1 {
        let best = left.iter().map(|at| score(*at)).max().unwrap_or(0);
        left.retain(|at| score(*at) == best);
    }
}

fn single(left: &[usize]) -> Result<usize, Failure> {
    match left {
        [one] => Ok(*one),
        [] => Err(Failure::Missing),
        _ => Err(Failure::Ambiguous),
    }
}

/// Replaces polymorphic types by the actual ones.
fn finish<T>(types: Types<'_>, candidate: Candidate<T>, given: &[Oid]) -> Result<Chosen<T>, Failure> {
    let Candidate { what, declared, result } = candidate;
    let (arguments, result) = actual(types, &declared, result, given)?;
    Ok(Chosen { what, arguments, result })
}

/// The types of arguments and result after replacing polymorphic types. Errors: if the given
/// types contradict each other.
fn actual(types: Types<'_>, declared: &[Oid], result: Oid, given: &[Oid]) -> Result<(Vec<Oid>, Oid), Failure> {
    if !declared.iter().any(|ty| is_polymorphic(*ty)) {
        return if is_polymorphic(result) { Err(Failure::Undetermined) } else { Ok((declared.to_vec(), result)) };
    }
    let compatible =
        |ty: Oid| matches!(ty, oid::ANY_COMPATIBLE | oid::ANY_COMPATIBLE_ARRAY | oid::ANY_COMPATIBLE_NON_ARRAY);
    let is_array = |ty: Oid| matches!(ty, oid::ANY_ARRAY | oid::ANY_COMPATIBLE_ARRAY);
    // The element type of each of the two polymorphic families.
    let mut elements = [None, None];
    let mut array = None;
    for (family, element) in elements.iter_mut().enumerate() {
        let mut of = Vec::new();
        for (declared, given) in declared.iter().zip(given) {
            if is_polymorphic(*declared) && compatible(*declared) == (family == 1) && !unknown(given) {
                if is_array(*declared) && family == 0 && *array.get_or_insert(*given) != *given {
                    return Err(Failure::Missing);
                }
                let is_element = !is_array(*declared);
                of.push(if is_element { *given } else { types.element(*given).ok_or(Failure::Missing)? });
            }
        }
        let Some(first) = of.first().copied() else { continue };
        *element = Some(match family {
            0 => first,
            _ => crate::conversions::common(types, &of)
                .filter(|common| of.iter().all(|ty| types.becomes(*ty, *common)))
                .ok_or(Failure::Missing)?,
        });
        if family == 0 && of.iter().any(|other| *other != first) {
            return Err(Failure::Missing);
        }
    }
    let actual = |ty: Oid| -> Result<Oid, Failure> {
        if !is_polymorphic(ty) {
            return Ok(ty);
        }
        let family = usize::from(compatible(ty));
        if let (oid::ANY_ARRAY, Some(array)) = (ty, array) {
            return Ok(array);
        }
        let element = match elements.get(family).copied().flatten() {
            Some(element) => element,
            // All arguments of the family are untyped strings.
            None if compatible(ty) => oid::TEXT,
            None => return Err(Failure::Undetermined),
        };
        if is_array(ty) { types.array(element).ok_or(Failure::Undetermined) } else { Ok(element) }
    };
    let arguments = declared.iter().map(|ty| actual(*ty)).collect::<Result<Vec<_>, _>>()?;
    Ok((arguments, actual(result)?))
}
