//! bool_and and bool_or, min and max of numerics and intervals: DataFusion defines these differently from PostgreSQL.

use super::fold::{Fold, FoldAggregate};
use super::own;
use super::sum::take;
use crate::typed::{Bool, NumericBytes};
use datafusion::logical_expr::AggregateUDF;
use sql_error::Result;
use std::sync::Arc;
use types::{SqlType, interval, numeric};

/// bool_or if `or`, otherwise bool_and (also called every).
pub(super) fn logical(or: bool) -> Arc<AggregateUDF> {
    let (name, parameter) = if or { ("bool_or", 1) } else { ("bool_and", 0) };
    own(FoldAggregate::<Logical>::new(name, parameter, SqlType::BOOL, SqlType::BOOL))
}

/// Counts of both answers. Thus a moving frame can remove values.
#[derive(Clone, Debug)]
struct Logical {
    or: bool,
    counts: [u64; 2],
}

impl Logical {
    fn count(&mut self, value: bool) -> &mut u64 {
        let [no, yes] = &mut self.counts;
        if value { yes } else { no }
    }
}

impl Fold for Logical {
    type In = Bool;
    type Out = Bool;
    const REMOVES: bool = true;
    fn start(parameter: u8) -> Self {
        Logical { or: parameter == 1, counts: [0; 2] }
    }
    fn add(&mut self, value: bool) -> Result<()> {
        *self.count(value) += 1;
        Ok(())
    }
    fn remove(&mut self, value: bool) -> Result<()> {
        let count = self.count(value);
        *count = count.saturating_sub(1);
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        for count in self.counts {
            out.extend_from_slice(&count.to_le_bytes());
        }
    }
    fn merge(&mut self, mut state: &[u8]) -> Result<()> {
        *self.count(false) += u64::from_le_bytes(take(&mut state)?);
        *self.count(true) += u64::from_le_bytes(take(&mut state)?);
        Ok(())
    }
    fn finish(&self) -> Result<Option<bool>> {
        let [no, yes] = self.counts;
        Ok((no + yes > 0).then_some(if self.or { yes > 0 } else { no == 0 }))
    }
}

const MAX: u8 = 1;
const OF_INTERVALS: u8 = 2;

/// min or max of numeric or interval, whose equal values may have different bytes. Of equal values the last one is
/// shown, as it is written.
pub(super) fn extreme(ty: SqlType, max: bool) -> Arc<AggregateUDF> {
    let (name, parameter) = if max { ("max", MAX) } else { ("min", 0) };
    let parameter = if ty == SqlType::INTERVAL { parameter | OF_INTERVALS } else { parameter };
    own(FoldAggregate::<Extreme>::new(name, parameter, ty, ty))
}

#[derive(Clone, Debug)]
struct Extreme {
    max: bool,
    /// The part of a value's bytes that equal values share.
    key_of: fn(&[u8]) -> &[u8],
    value: Option<Vec<u8>>,
}

impl Fold for Extreme {
    type In = NumericBytes;
    type Out = NumericBytes;
    fn start(parameter: u8) -> Self {
        let key_of = if parameter & OF_INTERVALS != 0 { interval::key_of } else { numeric::key_of };
        Extreme { max: parameter & MAX != 0, key_of, value: None }
    }
    fn add(&mut self, value: &[u8]) -> Result<()> {
        let stays = self.value.as_ref().is_some_and(|held| {
            let (held, value) = ((self.key_of)(held), (self.key_of)(value));
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
