//! Trade-Lookup: past trades with their dependent rows. It finds them by ids, by account, by security, or as the lots
//! that one trade changed.

use super::Outcome;
use crate::error::Result;
use crate::session::{Record, Session};
use crate::value::Value;

/// Selection of the trades. Moments are microseconds since 2000-01-01.
pub enum Wanted {
    Ids(Vec<i64>),
    OfAccount { account: i64, from: i64, to: i64 },
    OfSecurity { symbol: String, from: i64, to: i64 },
    LotsOf { account: i64, from: i64 },
}

pub struct TradeLookup(pub Wanted);

/// Number of trades to look up.
pub const TRADES: usize = 20;

const BY_IDS: &str = "select t_id, t_is_cash, t_exec_name, t_tt_id, t_bid_price, t_trade_price, tt_is_mrkt
    from trade join trade_type on tt_id = t_tt_id where t_id = any($1)";

const BY_ACCOUNT: &str = "select t_id, t_is_cash, t_exec_name, t_tt_id, t_bid_price, t_trade_price
    from trade where t_ca_id = $1 and t_dts between $2 and $3 order by t_dts limit 20";

const BY_SECURITY: &str =
    "select t_id, t_is_cash, t_exec_name, t_tt_id, t_bid_price, t_trade_price, t_ca_id, t_dts, t_qty
    from trade where t_s_symb = $1 and t_dts between $2 and $3 order by t_dts limit 20";

const FIRST_OF_ACCOUNT: &str = "select t_id from trade where t_ca_id = $1 and t_dts >= $2 order by t_dts limit 1";

const LOTS: &str = "select hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty from holding_history
    where hh_h_t_id in (select hh_h_t_id from holding_history where hh_t_id = $1) limit 20";

const SETTLEMENTS: &str =
    "select se_t_id, se_amt, se_cash_due_date, se_cash_type from settlement where se_t_id = any($1)";
const CASH: &str = "select ct_t_id, ct_amt, ct_dts, ct_name from cash_transaction where ct_t_id = any($1)";
const HISTORY: &str =
    "select th_t_id, th_dts, th_st_id from trade_history where th_t_id = any($1) order by th_t_id, th_dts";

/// The selected trades. Each row starts with the id and whether it is in cash.
pub async fn find(session: &mut Session, wanted: &Wanted) -> Result<Vec<Record>> {
    match wanted {
        Wanted::Ids(ids) => session.rows(BY_IDS, &[Value::Ints(ids.clone())]).await,
        Wanted::OfAccount { account, from, to } => {
            session.rows(BY_ACCOUNT, &[(*account).into(), Value::Moment(*from), Value::Moment(*to)]).await
        }
        Wanted::OfSecurity { symbol, from, to } => {
            session.rows(BY_SECURITY, &[symbol.into(), Value::Moment(*from), Value::Moment(*to)]).await
        }
        Wanted::LotsOf { account, from } => {
            session.rows(FIRST_OF_ACCOUNT, &[(*account).into(), Value::Moment(*from)]).await
        }
    }
}

/// Reads settlements, cash transactions and histories of trades. Answers whether the histories are complete, the
/// settlements, and the cash transactions.
pub async fn satellites(session: &mut Session, trades: &[Record]) -> Result<(bool, Vec<Record>, Vec<Record>)> {
    let mut ids = Vec::new();
    let mut in_cash = Vec::new();
    for trade in trades {
        ids.push(trade.int(0)?);
        if trade.flag(1)? {
            in_cash.push(trade.int(0)?);
        }
    }
    let settlements = session.rows(SETTLEMENTS, &[Value::Ints(ids.clone())]).await?;
    let cash = match in_cash.is_empty() {
        true => Vec::new(),
        false => session.rows(CASH, &[Value::Ints(in_cash)]).await?,
    };
    let history = session.rows(HISTORY, &[Value::Ints(ids)]).await?;
    // Trades of this run may still wait for their settlement.
    Ok((history.len() >= trades.len(), settlements, cash))
}

impl TradeLookup {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let trades = find(session, &self.0).await?;
        let found = match &self.0 {
            Wanted::Ids(ids) => trades.len() == ids.len(),
            _ => !trades.is_empty(),
        };
        if let Wanted::LotsOf { .. } = self.0 {
            let Some(first) = trades.first() else { return Ok(Outcome::expect(false)) };
            session.rows(LOTS, &[first.int(0)?.into()]).await?;
            return Ok(Outcome::expect(found));
        }
        if trades.is_empty() {
            return Ok(Outcome::expect(false));
        }
        let (whole, ..) = satellites(session, &trades).await?;
        Ok(Outcome::expect(found && whole))
    }
}
