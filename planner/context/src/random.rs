//! [`Generator`]: random numbers by PostgreSQL's generator (xoroshiro128**), so that a seed gives its numbers.

use sql_error::{Result, SqlError, state};

/// The state of a session's random numbers.
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
    /// From a number between -1 and 1.
    pub fn seeded(seed: f64) -> Self {
        let mut state = (((1u64 << 52) - 1) as f64 * seed) as i64 as u64;
        let (first, second) = (mixed(&mut state), mixed(&mut state));
        Generator(first, second)
    }
    /// From the system's randomness.
    pub fn fresh() -> Self {
        let bits = uuid::Uuid::new_v4().as_u128();
        let mut state = (bits >> 64) as u64 ^ bits as u64;
        Generator(mixed(&mut state), mixed(&mut state))
    }
    /// From 0 up to 1.
    pub fn next_number(&mut self) -> f64 {
        let (first, second) = (self.0, self.0 ^ self.1);
        let value = first.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        *self = Generator(first.rotate_left(24) ^ second ^ second << 16, second.rotate_left(37));
        (value >> 12) as f64 / (1u64 << 52) as f64
    }
}

/// The generator of random numbers for a value of the setting `seed`. Errors: 22023.
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
