//! sum and avg of intervals.

use super::fold::{Fold, FoldAggregate};
use super::own;
use super::sum::take;
use crate::typed::Interval;
use datafusion::logical_expr::AggregateUDF;
use sql_error::Result;
use std::sync::Arc;
use types::SqlType;
use types::interval::Interval as Span;

const AVERAGE: u8 = 1;

/// sum, or avg if `average`.
pub(super) fn total(average: bool, distinct: bool) -> Arc<AggregateUDF> {
    let (name, parameter) = if average { ("avg_interval", AVERAGE) } else { ("sum_interval", 0) };
    own(FoldAggregate::<Total>::new(name, parameter, SqlType::INTERVAL, SqlType::INTERVAL).distinct(distinct))
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
