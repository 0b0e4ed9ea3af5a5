//! PostgreSQL's facts about types for its choice among functions and operators: categories, preferred types, elements
//! and arrays, casts, and polymorphic types. Knows no expressions.

use crate::{CASTS, Row, TYPES};
use catalog::Catalog;
use std::collections::HashMap;
use std::sync::LazyLock;
use types::{BaseType, Oid};

/// A type with its modifier, or -1 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    /// The OID of the type.
    pub oid: Oid,
    /// The modifier (`atttypmod`), or -1.
    pub modifier: i32,
}

impl Ty {
    /// A type without a modifier.
    pub const fn of(oid: Oid) -> Ty {
        Ty { oid, modifier: -1 }
    }
}

#[allow(missing_docs)]
pub mod oid {
    use types::Oid;
    pub const BOOL: Oid = 16;
    pub const NAME: Oid = 19;
    pub const INT8: Oid = 20;
    pub const INT2: Oid = 21;
    pub const INT4: Oid = 23;
    pub const TEXT: Oid = 25;
    pub const UNKNOWN: Oid = 705;
    pub const CHAR: Oid = 1042;
    pub const VARCHAR: Oid = 1043;
    pub const DATE: Oid = 1082;
    pub const TIME: Oid = 1083;
    pub const TIMESTAMP: Oid = 1114;
    pub const TIMESTAMPTZ: Oid = 1184;
    pub const INTERVAL: Oid = 1186;
    pub const TIMETZ: Oid = 1266;
    pub const NUMERIC: Oid = 1700;
    pub const RECORD: Oid = 2249;
    pub const ANY: Oid = 2276;
    pub const ANY_ARRAY: Oid = 2277;
    pub const ANY_ELEMENT: Oid = 2283;
    pub const ANY_NON_ARRAY: Oid = 2776;
    pub const ANY_ENUM: Oid = 3500;
    pub const ANY_COMPATIBLE: Oid = 5077;
    pub const ANY_COMPATIBLE_ARRAY: Oid = 5078;
    pub const ANY_COMPATIBLE_NON_ARRAY: Oid = 5079;
}

struct Fact {
    category: char,
    preferred: bool,
    element: Oid,
    array: Oid,
    pseudo: bool,
}

static FACTS: LazyLock<HashMap<Oid, Fact>> = LazyLock::new(|| {
    let fact = |row: &Row| Fact {
        category: row.field(5).and_then(|field| field.chars().next()).unwrap_or('U'),
        preferred: row.field(6) == Some("t"),
        // Names and points have elements too, but are not arrays.
        element: if row.field(5) == Some("A") { row.oid(9) } else { 0 },
        array: row.oid(10),
        pseudo: row.field(4) == Some("p"),
    };
    TYPES.rows.iter().map(|row| (row.oid(0), fact(row))).collect()
});

/// The contexts in which a cast applies by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cast {
    Implicit,
    Assignment,
    Explicit,
}

/// For each cast its context, and whether a function performs it.
static KNOWN_CASTS: LazyLock<HashMap<(Oid, Oid), (Cast, bool)>> = LazyLock::new(|| {
    let context = |field: Option<&str>| match field {
        Some("i") => Cast::Implicit,
        Some("a") => Cast::Assignment,
        _ => Cast::Explicit,
    };
    let cast = |row: &Row| ((row.oid(1), row.oid(2)), (context(row.field(4)), row.field(5) == Some("f")));
    CASTS.rows.iter().map(cast).collect()
});

/// The types of a catalog: PostgreSQL's and the catalog's enums.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    /// The catalog that has the enums.
    pub catalog: &'a Catalog,
}

impl Types<'_> {
    /// Whether a type is an enum.
    pub fn is_enum(self, ty: Oid) -> bool {
        !FACTS.contains_key(&ty)
            && self.catalog.type_by_oid(ty).is_some_and(|ty| matches!(ty.base, BaseType::Enum(_)) && !ty.array)
    }
    /// The type's category (`typcategory`).
    pub fn category(self, ty: Oid) -> char {
        match FACTS.get(&ty) {
            Some(fact) => fact.category,
            None if self.is_enum(ty) => 'E',
            None => 'A',
        }
    }
    /// Whether a type is the preferred one of its category.
    pub fn is_preferred(self, category: char, ty: Oid) -> bool {
        FACTS.get(&ty).is_some_and(|fact| fact.preferred && fact.category == category)
    }
    /// The element type of an array. `None` for other types.
    pub fn element(self, ty: Oid) -> Option<Oid> {
        match FACTS.get(&ty) {
            Some(fact) => Some(fact.element).filter(|element| *element != 0),
            None => self.catalog.type_by_oid(ty).filter(|ty| ty.array).map(|ty| ty.element().oid()),
        }
    }
    /// The array type of a type.
    pub fn array(self, ty: Oid) -> Option<Oid> {
        match FACTS.get(&ty) {
            Some(fact) => Some(fact.array).filter(|array| *array != 0),
            None => self.catalog.type_by_oid(ty).filter(|ty| !ty.array).map(|ty| ty.array_of().oid()),
        }
    }
    /// Whether a type is a pseudo-type, which only declarations of functions use.
    pub fn is_pseudo(self, ty: Oid) -> bool {
        FACTS.get(&ty).is_some_and(|fact| fact.pseudo)
    }
    /// Whether values of a type are implicitly converted to another.
    pub fn becomes(self, from: Oid, to: Oid) -> bool {
        if from == to || from == oid::UNKNOWN || to == oid::ANY {
            return true;
        }
        if is_polymorphic(to) {
            // Consistency among the arguments is checked later.
            let array = self.element(from).is_some();
            return match to {
                oid::ANY_ARRAY | oid::ANY_COMPATIBLE_ARRAY => array,
                oid::ANY_NON_ARRAY | oid::ANY_COMPATIBLE_NON_ARRAY => !array,
                oid::ANY_ENUM => self.is_enum(from),
                oid::ANY_ELEMENT | oid::ANY_COMPATIBLE => true,
                _ => false,
            };
        }
        match KNOWN_CASTS.get(&(from, to)) {
            Some((context, _)) => *context == Cast::Implicit,
            None => match (self.element(from), self.element(to)) {
                (Some(from), Some(element)) => !is_vector(to) && self.becomes(from, element),
                _ => false,
            },
        }
    }
    /// Whether a function performs the cast, rather than reinterpretation or conversion through text.
    pub fn cast_is_call(self, from: Oid, to: Oid) -> bool {
        KNOWN_CASTS.get(&(from, to)).is_some_and(|(_, call)| *call)
    }
    /// Whether any cast from one type to another exists.
    pub fn can_be_cast(self, from: Oid, to: Oid) -> bool {
        if self.becomes(from, to) || KNOWN_CASTS.contains_key(&(from, to)) {
            return true;
        }
        match (self.element(from), self.element(to)) {
            (Some(from), Some(element)) if !is_vector(to) => self.can_be_cast(from, element),
            // Strings are cast through the text form.
            _ => self.category(to) == 'S' || self.category(from) == 'S',
        }
    }
}

/// Whether a declared type is polymorphic.
pub fn is_polymorphic(ty: Oid) -> bool {
    matches!(
        ty,
        oid::ANY_ARRAY
            | oid::ANY_ELEMENT
            | oid::ANY_NON_ARRAY
            | oid::ANY_ENUM
            | oid::ANY_COMPATIBLE
            | oid::ANY_COMPATIBLE_ARRAY
            | oid::ANY_COMPATIBLE_NON_ARRAY
    ) || is_range(ty)
}

/// int2vector and oidvector, to which arrays are not converted.
fn is_vector(ty: Oid) -> bool {
    matches!(ty, 22 | 30)
}

/// anyrange and its kin. Ranges are not supported.
fn is_range(ty: Oid) -> bool {
    matches!(ty, 3831 | 4537 | 5080 | 4538)
}

/// The common type of expressions with these types (UNION, CASE and their kin).
pub fn common(types: Types<'_>, given: &[Oid]) -> Option<Oid> {
    let first = *given.first()?;
    let mut chosen = first;
    if first != oid::UNKNOWN && given.iter().all(|other| *other == first) {
        return Some(first);
    }
    for next in given.iter().skip(1).copied() {
        if next == oid::UNKNOWN || next == chosen {
            continue;
        }
        if chosen == oid::UNKNOWN {
            chosen = next;
            continue;
        }
        let category = types.category(chosen);
        if category != types.category(next) {
            return None;
        }
        if !types.is_preferred(category, chosen) && types.becomes(chosen, next) && !types.becomes(next, chosen) {
            chosen = next;
        }
    }
    Some(if chosen == oid::UNKNOWN { oid::TEXT } else { chosen })
}
