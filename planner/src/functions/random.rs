//! random and setseed. They use PostgreSQL's generator (xoroshiro128**), so that a seed gives the same numbers.

use super::kernel::{Call, Stability};
use super::registry::ScalarFunction;
use super::typed::{Float8, SqlWrite};
use crate::error::{Result, SqlError, state};
use crate::types::{BaseType, SqlType};
use datafusion::arrow::array::{ArrayRef, NullArray};
use std::sync::Arc;

/// State of a session's random number generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator(u64, u64);

fn mixed(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl Generator {
    /// Seeds the generator by a number between -1 and 1.
    fn seeded(seed: f64) -> Self {
        let mut state = (((1u64 << 52) - 1) as f64 * seed) as i64 as u64;
        let (first, second) = (mixed(&mut state), mixed(&mut state));
        Generator(first, second)
    }
    /// Seeds the generator from the system's randomness.
    fn fresh() -> Self {
        let bits = uuid::Uuid::new_v4().as_u128();
        let mut state = (bits >> 64) as u64 ^ bits as u64;
        Generator(mixed(&mut state), mixed(&mut state))
    }
    /// The next number, at least 0 and less than 1.
    fn next(&mut self) -> f64 {
        let (first, second) = (self.0, self.0 ^ self.1);
        let value = first.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        *self = Generator(first.rotate_left(24) ^ second ^ second << 16, second.rotate_left(37));
        (value >> 12) as f64 / (1u64 << 52) as f64
    }
}

/// The generator for a value of the setting `seed`. Errors: 22023.
pub fn seeded(value: &str) -> Result<Generator> {
    let invalid = |message: String| Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
    match value.trim().parse::<f64>() {
        Ok(seed) if (-1.0..=1.0).contains(&seed) => Ok(Generator::seeded(seed)),
        Ok(seed) if !seed.is_nan() => {
            invalid(format!("{seed} is outside the valid range for parameter \"seed\" (-1 .. 1)"))
        }
        _ => invalid(format!("invalid value for parameter \"seed\": \"{value}\"")),
    }
}

fn random(call: &Call<'_>) -> Result<ArrayRef> {
    let context = call.context()?;
    let mut held = context.session.random.lock();
    let generator = held.get_or_insert_with(Generator::fresh);
    let mut builder = Float8::builder(call.rows);
    for _ in 0..call.rows {
        Float8::append(&mut builder, Some(generator.next()))?;
    }
    Ok(Float8::finish(builder))
}

fn setseed(call: &Call<'_>) -> Result<ArrayRef> {
    let context = call.context()?;
    let seeds = call.column::<Float8>(0)?;
    for row in 0..call.rows {
        let Some(seed) = seeds.get(row)? else { continue };
        if !(-1.0..=1.0).contains(&seed) {
            let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        *context.session.random.lock() = Some(Generator::seeded(seed));
    }
    Ok(Arc::new(NullArray::new(call.rows)))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (float8, void) = (SqlType::FLOAT8, SqlType::of(BaseType::Void));
    vec![
        ScalarFunction::new("random", &[], float8, Stability::Volatile, Arc::new(random)),
        ScalarFunction::new("setseed", &[float8], void, Stability::Volatile, Arc::new(setseed)),
    ]
}

#[cfg(test)]
mod tests {
    use super::Generator;

    #[test]
    fn seeds_give_postgresqls_numbers() {
        // Checked against PostgreSQL 15.
        let mut generator = Generator::seeded(0.5);
        assert_eq!((generator.next(), generator.next()), (0.9851677175347999, 0.825301858027981));
        assert_eq!(Generator::seeded(-0.3).next(), 0.739669804988659);
    }
}
