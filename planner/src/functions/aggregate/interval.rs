//! sum, avg, min and max of intervals.

use super::fold::{Fold, FoldAggregate};
use super::own;
use super::sum::take;
use crate::error::{Result, SqlError, state};
use crate::functions::typed::{Interval, NumericBytes};
use crate::types::SqlType;
use crate::types::interval::{Interval as Span, key_of};
use datafusion::logical_expr::AggregateUDF;
use std::sync::Arc;

const AVERAGE: u8 = 1;

/// sum or avg.
pub(super) fn total(average: bool) -> Arc<AggregateUDF> {
    let (name, parameter) = if average { ("avg_interval", AVERAGE) } else { ("sum_interval", 0) };
    own(FoldAggregate::<Total>::new(name, parameter, SqlType::INTERVAL, SqlType::INTERVAL))
}

/// min or max: of equal values one is shown as it is.
pub(super) fn extreme(max: bool) -> Arc<AggregateUDF> {
    let (name, parameter) = if max { ("max_interval", 1) } else { ("min_interval", 0) };
    own(FoldAggregate::<Extreme>::new(name, parameter, SqlType::INTERVAL, SqlType::INTERVAL))
}

#[derive(Clone, Debug)]
struct Total {
    average: bool,
    sum: Span,
    count: u64,
}

impl Fold for Total {
    type In = Interval;
    type Out = Interval;
    const REMOVES: bool = true;
    fn start(parameter: u8) -> Self {
        Total { average: parameter == AVERAGE, sum: Span::default(), count: 0 }
    }
    fn add(&mut self, value: Span) -> Result<()> {
        self.sum = self.sum.add(&value)?;
        self.count += 1;
        Ok(())
    }
    fn remove(&mut self, value: Span) -> Result<()> {
        self.sum = self.sum.sub(&value)?;
        self.count = self.count.saturating_sub(1);
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.sum.to_bytes());
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        self.count += u64::from_le_bytes(take(&mut state)?);
        self.sum = self.sum.add(&Span::from_bytes(state)?)?;
        Ok(())
    }
    fn finish(&self) -> Result<Option<Span>> {
        match (self.count, self.average) {
            (0, _) => Ok(None),
            (_, false) => Ok(Some(self.sum)),
            (count, true) => self.sum.divided(count as f64).map(Some),
        }
    }
}

#[derive(Clone, Debug)]
struct Extreme {
    max: bool,
    value: Option<Vec<u8>>,
}

impl Fold for Extreme {
    type In = NumericBytes;
    type Out = NumericBytes;
    fn start(parameter: u8) -> Self {
        Extreme { max: parameter == 1, value: None }
    }
    fn add(&mut self, value: &[u8]) -> Result<()> {
        let stays = self.value.as_ref().is_some_and(|held| {
            let (held, value) = (key_of(held), key_of(value));
            if self.max { held > value } else { held < value }
        });
        if !stays {
            self.value = Some(value.to_vec());
        }
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        if let Some(value) = &self.value {
            out.extend_from_slice(value);
        }
    }
    fn merge(&mut self, state: &[u8]) -> Result<()> {
        if state.is_empty() { Ok(()) } else { self.add(state) }
    }
    fn finish(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.value.clone())
    }
}

/// 0A000 for DISTINCT within sum or avg.
pub(super) fn no_distinct(name: &str) -> SqlError {
    SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("{name}(DISTINCT interval) is not supported"))
}
