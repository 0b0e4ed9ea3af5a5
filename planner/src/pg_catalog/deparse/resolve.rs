//! Which operator or function PostgreSQL takes for arguments of given types: chapter 10 of its manual over its own lists
//! of operators and functions. Knows no expressions.

use super::types::{Types, is_polymorphic, oid};
use crate::pg_catalog::builtin::{ALL_FUNCTIONS, ALL_OPERATORS, Function};
use crate::types::Oid;

/// What was chosen, in the types of the arguments.
#[derive(Debug)]
pub struct Chosen<T> {
    /// The operator or function.
    pub what: T,
    /// The types its arguments get; `any` where they stay as they are.
    pub arguments: Vec<Oid>,
    /// The type of the result.
    pub result: Oid,
}

/// A possibility: declared types, one for each argument that is given.
struct Candidate<T> {
    what: T,
    declared: Vec<Oid>,
    result: Oid,
}

/// The operator of a name; without a left type a prefix operator.
pub fn operator(types: Types<'_>, name: &str, left: Option<Oid>, right: Oid) -> Option<Chosen<&'static str>> {
    let given: Vec<Oid> = left.into_iter().chain([right]).collect();
    let candidates: Vec<Candidate<&'static str>> = ALL_OPERATORS
        .iter()
        .filter(|operator| operator.name == name && (operator.left == 0) == left.is_none())
        .map(|operator| Candidate {
            what: operator.name,
            declared: [operator.left, operator.right].into_iter().filter(|ty| *ty != 0).collect(),
            result: operator.result,
        })
        .collect();
    // A string beside a known type is first tried as that type.
    let assumed: Vec<Oid> = match given.as_slice() {
        [oid::UNKNOWN, other] => vec![*other, *other],
        [other, oid::UNKNOWN] => vec![*other, *other],
        same => same.to_vec(),
    };
    let exact = candidates.iter().position(|candidate| candidate.declared == assumed && !given.iter().all(unknown));
    let at = match exact {
        Some(at) => at,
        None => choose(types, &given, &candidates)?,
    };
    finish(types, candidates.into_iter().nth(at)?, &given)
}

/// The function of a name, of the kinds in `kinds` (`f`, `a`, `w`). `spread`: the last argument is an array of those of
/// a function that takes any number of them.
pub fn function(
    types: Types<'_>,
    name: &str,
    kinds: &str,
    given: &[Oid],
    spread: bool,
) -> Option<Chosen<&'static Function>> {
    let mut candidates = Vec::new();
    for function in ALL_FUNCTIONS.iter().filter(|function| function.name == name && kinds.contains(function.kind)) {
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
        candidates.push(Candidate { what: function, declared, result: function.result });
    }
    let exact = candidates.iter().position(|candidate| candidate.declared == given);
    let at = match exact {
        Some(at) => at,
        None => choose(types, given, &candidates)?,
    };
    finish(types, candidates.into_iter().nth(at)?, given)
}

fn unknown(ty: &Oid) -> bool {
    *ty == oid::UNKNOWN
}

/// The place of the one candidate that fits best.
fn choose<T>(types: Types<'_>, given: &[Oid], all: &[Candidate<T>]) -> Option<usize> {
    let fits = |candidate: &Candidate<T>| {
        let mut pairs = given.iter().zip(&candidate.declared);
        candidate.declared.len() == given.len() && pairs.all(|(given, to)| types.becomes(*given, *to))
    };
    let mut left: Vec<usize> =
        all.iter().enumerate().filter(|(_, candidate)| fits(candidate)).map(|(at, _)| at).collect();
    let declared = |at: usize, argument: usize| all.get(at).and_then(|found| found.declared.get(argument)).copied();
    // Most arguments that are exactly of the declared types, then most that are so or of preferred types.
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
    // What is not known is taken for the one type that is.
    let mut known = given.iter().filter(|ty| !unknown(ty));
    let first = known.next()?;
    if known.any(|other| other != first) {
        return None;
    }
    left.retain(|at| {
        (0..given.len()).all(|argument| declared(*at, argument).is_some_and(|to| types.becomes(*first, to)))
    });
    single(&left)
}

fn keep_best(left: &mut Vec<usize>, score: impl Fn(usize) -> usize) {
    if left.len() > 1 {
        let best = left.iter().map(|at| score(*at)).max().unwrap_or(0);
        left.retain(|at| score(*at) == best);
    }
}

fn single(left: &[usize]) -> Option<usize> {
    match left {
        [one] => Some(*one),
        _ => None,
    }
}

/// Puts types in the place of those that fit anything. `None` where they do not fit each other.
fn finish<T>(types: Types<'_>, candidate: Candidate<T>, given: &[Oid]) -> Option<Chosen<T>> {
    let Candidate { what, declared, result } = candidate;
    if !declared.iter().any(|ty| is_polymorphic(*ty)) {
        return Some(Chosen { what, arguments: declared, result }).filter(|_| !is_polymorphic(result));
    }
    let compatible =
        |ty: Oid| matches!(ty, oid::ANY_COMPATIBLE | oid::ANY_COMPATIBLE_ARRAY | oid::ANY_COMPATIBLE_NON_ARRAY);
    let is_array = |ty: Oid| matches!(ty, oid::ANY_ARRAY | oid::ANY_COMPATIBLE_ARRAY);
    // The element type of each of the two families.
    let mut elements = [None, None];
    for (family, element) in elements.iter_mut().enumerate() {
        let mut of = Vec::new();
        for (declared, given) in declared.iter().zip(given) {
            if is_polymorphic(*declared) && compatible(*declared) == (family == 1) && !unknown(given) {
                of.push(if is_array(*declared) { types.element(*given)? } else { *given });
            }
        }
        let Some(first) = of.first().copied() else { continue };
        *element = Some(match family {
            0 => first,
            _ => super::coerce::common(types, &of)?,
        });
        if family == 0 && of.iter().any(|other| *other != first) {
            return None;
        }
    }
    let actual = |ty: Oid| -> Option<Oid> {
        if !is_polymorphic(ty) {
            return Some(ty);
        }
        let family = usize::from(compatible(ty));
        let element = elements.get(family).copied().flatten();
        let element = match element {
            Some(element) => element,
            // All of the family are strings.
            None if compatible(ty) => oid::TEXT,
            None => return None,
        };
        if is_array(ty) { types.array(element) } else { Some(element) }
    };
    let arguments = declared.iter().map(|ty| actual(*ty)).collect::<Option<Vec<_>>>()?;
    Some(Chosen { what, arguments, result: actual(result)? })
}
