//! random and setseed. They use PostgreSQL's generator (xoroshiro128**), so that a seed gives the same numbers.

use super::kernel::{Call, Stability};
use super::registry::ScalarFunction;
use super::typed::{Float8, SqlWrite};
use context::random::Generator;
use datafusion::arrow::array::{ArrayRef, NullArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{BaseType, SqlType};

fn random(call: &Call<'_>) -> Result<ArrayRef> {
    let context = call.context()?;
    let mut held = context.session.random.lock();
    let generator = held.get_or_insert_with(Generator::fresh);
    let mut builder = Float8::builder(call.rows);
    for _ in 0..call.rows {
        Float8::append(&mut builder, Some(generator.next_number()))?;
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
        assert_eq!((generator.next_number(), generator.next_number()), (0.9851677175347999, 0.825301858027981));
        assert_eq!(Generator::seeded(-0.3).next_number(), 0.739669804988659);
    }
}
