//! TABLESAMPLE: BERNOULLI and SYSTEM, which both select single rows here.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::from::Source;
use super::scope::Scope;
use catalog::PG_CATALOG;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use functions::kernel::{KernelFunction, Stability};
use functions::typed::{Float8, Int8, NumericBytes, binary, unary};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::{Span, ast, fold_name};
use types::SqlType;

impl Binder<'_> {
    /// Selects each row of a table with the same probability.
    pub fn sampled<'p>(&self, source: Source<'p>, sample: &ast::Sample, named: Span) -> Result<Source<'p>> {
        let no_table = || self.at(no_table(), named);
        let [relation] = source.scope.relations.as_slice() else { return Err(no_table()) };
        let Some(key) = relation.key.clone().filter(|_| relation.table.is_some()) else { return Err(no_table()) };
        let (schema, method) = fold_name(&sample.method)?;
        let known = ["bernoulli", "system"].contains(&method.as_str());
        if !known || schema.as_ref().is_some_and(|schema| schema != PG_CATALOG) {
            let shown = schema.map_or_else(|| method.clone(), |schema| format!("{schema}.{method}"));
            let message = format!("tablesample method {shown} does not exist");
            return Err(self.at(SqlError::new(state::UNDEFINED_OBJECT, message), sample.span));
        }
        let [percent] = sample.arguments.as_slice() else {
            let message = format!("tablesample method {method} requires 1 argument, not {}", sample.arguments.len());
            return Err(self.at(SqlError::new("2202H", message), sample.span));
        };
        let scope = Scope::empty(None);
        let env = Env::new(&scope, Clause::FromFunction);
        let percent = self.resolver.cast(self.expr(percent, env)?, SqlType::FLOAT8, CastContext::Implicit)?;
        let checked = KernelFunction::new(
            "sample percentage",
            vec![SqlType::FLOAT8],
            SqlType::FLOAT8,
            Stability::Immutable,
            unary::<Float8, Float8, _>(percentage),
            None,
        );
        let percent = match percent.constant() {
            Some(value) if value.is_null() => {
                return Err(SqlError::new("2202H", "TABLESAMPLE parameter cannot be null"));
            }
            Some(value) => {
                let value = checked.evaluate(std::slice::from_ref(value))?;
                TypedExpr::literal(value, SqlType::FLOAT8)
            }
            None => checked.call(vec![percent.expr]),
        };
        let place = match &sample.seed {
            None => {
                let random = self.resolver.function("random", Vec::new())?;
                let hundred = self.resolver.cast(self.number("100")?, SqlType::FLOAT8, CastContext::Implicit)?;
                self.resolver.operator("*", Some(random), hundred)?
            }
            Some(seed) => {
                let seed = self.resolver.cast(self.expr(seed, env)?, SqlType::FLOAT8, CastContext::Implicit)?;
                if seed.constant().is_some_and(datafusion::scalar::ScalarValue::is_null) {
                    return Err(SqlError::new("2202G", "TABLESAMPLE REPEATABLE parameter cannot be null"));
                }
                let bits = KernelFunction::new(
                    "sample seed",
                    vec![SqlType::FLOAT8],
                    SqlType::INT8,
                    Stability::Immutable,
                    unary::<Float8, Int8, _>(|seed: f64| Ok(i64::from_ne_bytes(seed.to_bits().to_ne_bytes()))),
                    None,
                );
                let seed = bits.call(vec![seed.expr]);
                let place = KernelFunction::new(
                    "sample place",
                    vec![SqlType::NUMERIC, SqlType::INT8],
                    SqlType::FLOAT8,
                    Stability::Immutable,
                    binary::<NumericBytes, Int8, Float8, _>(|key: &[u8], seed: i64| Ok(place(key, seed))),
                    None,
                );
                place.call(vec![Expr::Column(key), seed.expr])
            }
        };
        let taken = self.resolver.operator("<", Some(place), percent)?;
        let plan = LogicalPlanBuilder::from(source.plan).filter(taken.expr)?.build()?;
        Ok(Source { plan, scope: source.scope })
    }
}

/// The error 0A000: only stored rows can be sampled.
pub fn no_table() -> SqlError {
    let message = "TABLESAMPLE clause can only be applied to tables and materialized views";
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
}

fn percentage(value: f64) -> Result<f64> {
    if (0.0..=100.0).contains(&value) {
        return Ok(value);
    }
    Err(SqlError::new("2202H", "sample percentage must be between 0 and 100"))
}

/// A number from 0 to 100 for a key and a seed, uniformly distributed.
#[allow(clippy::cast_precision_loss)]
fn place(key: &[u8], seed: i64) -> f64 {
    // FNV-1a, followed by the finalizer of splitmix64.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from_ne_bytes(seed.to_ne_bytes());
    for byte in key {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    (hash >> 11) as f64 / (1_u64 << 53) as f64 * 100.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spread_evenly_and_depend_on_the_seed() {
        let below = |seed: i64| (0..10_000_u64).filter(|key| place(&key.to_be_bytes(), seed) < 25.0).count();
        for seed in [0, 1, -5] {
            assert!((2_300..2_700).contains(&below(seed)), "{}", below(seed));
        }
        assert!((0..100_u64).any(|key| (place(&key.to_be_bytes(), 1) < 50.0) != (place(&key.to_be_bytes(), 2) < 50.0)));
        assert_eq!(percentage(100.5).unwrap_err().state(), "2202H");
    }
}
