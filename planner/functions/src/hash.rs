//! Hash functions under PostgreSQL's names, such as `hashtext('x')`. Programs use them for advisory lock keys and
//! shards, so the results equal PostgreSQL's. The hash is Bob Jenkins' lookup3 (2006). Hash joins and grouping do not
//! use it.

use super::kernel::Stability;
use super::registry::ScalarFunction;
use super::typed::{Float4, Float8, Int2, Int4, Int8, Numeric, SqlRead, Text, Timestamp, Uuid, binary, unary};
use sql_error::Result;
use types::numeric::Numeric as Number;
use types::{BaseType, SqlType};

/// The initial state, without the key's length.
const START: u32 = 0x9e37_79b9_u32.wrapping_add(3_923_095);

/// The three words of a hash being computed.
#[derive(Clone, Copy)]
struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    /// The state for a key of `length` bytes. A nonzero seed gives another hash.
    fn new(length: usize, seed: u64) -> Self {
        let start = START.wrapping_add(length as u32);
        let mut state = State { a: start, b: start, c: start };
        if seed != 0 {
            state.add((seed >> 32) as u32, seed as u32, 0);
            state.mix();
        }
        state
    }
    fn add(&mut self, a: u32, b: u32, c: u32) {
        self.a = self.a.wrapping_add(a);
        self.b = self.b.wrapping_add(b);
        self.c = self.c.wrapping_add(c);
    }
    /// Mixes the words reversibly, so that every bit affects the others.
    fn mix(&mut self) {
        let State { mut a, mut b, mut c } = *self;
        for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
            a = a.wrapping_sub(c) ^ c.rotate_left(first);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(second);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(third);
            b = b.wrapping_add(a);
        }
        *self = State { a, b, c };
    }
    /// The last two words, which depend on every bit of the key. Together they are the 64-bit hash; the last one is the
    /// 32-bit hash.
    fn finish(self) -> u64 {
        let State { mut a, mut b, mut c } = self;
        c = (c ^ b).wrapping_sub(b.rotate_left(14));
        a = (a ^ c).wrapping_sub(c.rotate_left(11));
        b = (b ^ a).wrapping_sub(a.rotate_left(25));
        c = (c ^ b).wrapping_sub(b.rotate_left(16));
        a = (a ^ c).wrapping_sub(c.rotate_left(4));
        b = (b ^ a).wrapping_sub(a.rotate_left(14));
        c = (c ^ b).wrapping_sub(b.rotate_left(24));
        u64::from(b) << 32 | u64::from(c)
    }
}

/// A little-endian number; missing bytes are zero.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn of_bytes(key: &[u8], seed: u64) -> u64 {
    let mut state = State::new(key.len(), seed);
    let mut blocks = key.chunks_exact(12);
    let part = |block: &[u8], from: usize, to: usize| {
        word(block.get(from.min(block.len())..to.min(block.len())).unwrap_or(&[]))
    };
    for block in &mut blocks {
        state.add(part(block, 0, 4), part(block, 4, 8), part(block, 8, 12));
        state.mix();
    }
    // The lowest byte of the last word is reserved for the length.
    let rest = blocks.remainder();
    state.add(part(rest, 0, 4), part(rest, 4, 8), part(rest, 8, 12) << 8);
    state.finish()
}

fn of_word(key: u32, seed: u64) -> u64 {
    let mut state = State::new(4, seed);
    state.add(key, 0, 0);
    state.finish()
}

/// Hashes an int8. An equal int4 or int2 has the same hash.
fn of_int8(value: i64, seed: u64) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    of_word(low ^ if value >= 0 { high } else { !high }, seed)
}

fn of_float(value: f64, seed: u64) -> u64 {
    if value == 0.0 {
        return seed;
    }
    let one = if value.is_nan() { f64::NAN } else { value };
    of_bytes(&one.to_le_bytes(), seed)
}

/// Hashes the base-10000 digits without surrounding zeros, and the weight of the first digit.
fn of_numeric(value: &Number, seed: u64) -> u64 {
    if !value.is_finite() {
        return seed;
    }
    if value.signum() == 0 {
        return seed.wrapping_sub(1);
    }
    let mut wire = Vec::new();
    value.write_wire(&mut wire);
    let fields: Vec<i16> =
        wire.chunks_exact(2).map(|pair| pair.iter().fold(0_i16, |field, byte| field << 8 | i16::from(*byte))).collect();
    let weight = fields.get(1).copied().unwrap_or(0);
    let digits = fields.get(4..).unwrap_or(&[]);
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let end = digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
    let bytes: Vec<u8> = digits.get(zeros..end).unwrap_or(&[]).iter().flat_map(|digit| digit.to_le_bytes()).collect();
    of_bytes(&bytes, seed) ^ i64::from(weight).wrapping_sub(zeros as i64) as u64
}

/// The function with a 32-bit hash and, with the suffix of its name, the one with a 64-bit hash and a seed.
fn both<T: SqlRead>(
    names: (&'static str, &'static str),
    ty: SqlType,
    hash: impl for<'a> Fn(T::Item<'a>, u64) -> u64 + Copy + Send + Sync + 'static,
) -> [ScalarFunction; 2] {
    let short = unary::<T, Int4, _>(move |value: T::Item<'_>| -> Result<i32> { Ok(hash(value, 0) as u32 as i32) });
    let long = binary::<T, Int8, Int8, _>(move |value: T::Item<'_>, seed: i64| -> Result<i64> {
        Ok(hash(value, seed as u64) as i64)
    });
    [
        ScalarFunction::new(names.0, &[ty], SqlType::INT4, Stability::Immutable, short),
        ScalarFunction::new(names.1, &[ty, SqlType::INT8], SqlType::INT8, Stability::Immutable, long),
    ]
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = |value: &str, seed| of_bytes(value.as_bytes(), seed);
    let byte = |value: &str, seed| {
        let byte = value.chars().next().and_then(|c| u8::try_from(c).ok()).unwrap_or(0);
        of_word(i32::from(byte.cast_signed()) as u32, seed)
    };
    [
        both::<Text>(("hashtext", "hashtextextended"), SqlType::TEXT, text),
        both::<Text>(("hashname", "hashnameextended"), SqlType::of(BaseType::Name), text),
        both::<Text>(("hashbpchar", "hashbpcharextended"), SqlType::CHAR, |value: &str, seed| {
            of_bytes(value.trim_end_matches(' ').as_bytes(), seed)
        }),
        both::<Text>(("hashchar", "hashcharextended"), SqlType::SINGLE_CHAR, byte),
        both::<Int2>(("hashint2", "hashint2extended"), SqlType::INT2, |value: i16, seed| {
            of_word(i32::from(value) as u32, seed)
        }),
        both::<Int4>(("hashint4", "hashint4extended"), SqlType::INT4, |value: i32, seed| of_word(value as u32, seed)),
        both::<Int8>(("hashint8", "hashint8extended"), SqlType::INT8, of_int8),
        both::<Int8>(("hashoid", "hashoidextended"), SqlType::OID, |value: i64, seed| of_word(value as u32, seed)),
        both::<Float4>(("hashfloat4", "hashfloat4extended"), SqlType::FLOAT4, |value: f32, seed| {
            of_float(f64::from(value), seed)
        }),
        both::<Float8>(("hashfloat8", "hashfloat8extended"), SqlType::FLOAT8, of_float),
        both::<Numeric>(("hash_numeric", "hash_numeric_extended"), SqlType::NUMERIC, |value: Number, seed| {
            of_numeric(&value, seed)
        }),
        both::<Int8>(("time_hash", "time_hash_extended"), SqlType::TIME, of_int8),
        both::<Timestamp>(("timestamp_hash", "timestamp_hash_extended"), SqlType::TIMESTAMP, of_int8),
        both::<Uuid>(("uuid_hash", "uuid_hash_extended"), SqlType::UUID, |value: &[u8], seed| of_bytes(value, seed)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
