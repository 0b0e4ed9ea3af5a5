//! Market-Feed: an entry of the ticker changes a security's last price and submits the limit orders that it triggers. A
//! feed has twenty entries, each in a transaction of its own.

use super::{Outcome, Submission};
use crate::decimal::cents;
use crate::error::Result;
use crate::session::Session;

/// The ticker's report of one trade.
#[derive(Clone, Debug)]
pub struct TickerEntry {
    pub symbol: String,
    /// Price of the trade in cents.
    pub price: i64,
    pub quantity: i64,
}

const LAST_TRADE: &str =
    "update last_trade set lt_price = $2, lt_vol = lt_vol + $3, lt_dts = localtimestamp where lt_s_symb = $1";

const TRIGGERED: &str = "select tr_t_id, tr_tt_id, tr_qty, tr_bid_price from trade_request
    where tr_s_symb = $1 and ((tr_tt_id = 'TSL' and tr_bid_price >= $2) or (tr_tt_id = 'TLS' and tr_bid_price <= $2)
    or (tr_tt_id = 'TLB' and tr_bid_price >= $2))";

// The current time instead of the time of BEGIN, because the triggered order may be younger than this transaction.
const SUBMIT: &str = "update trade set t_st_id = 'SBMT', t_dts = clock_timestamp()::timestamp where t_id = $1";
const FORGET: &str = "delete from trade_request where tr_t_id = $1";
const HISTORY: &str =
    "insert into trade_history (th_t_id, th_dts, th_st_id) values ($1, clock_timestamp()::timestamp, 'SBMT')";

pub async fn feed_entry(session: &mut Session, entry: &TickerEntry) -> Result<Outcome> {
    let price = cents(entry.price);
    session.change(1, LAST_TRADE, &[(&entry.symbol).into(), price.into(), entry.quantity.into()]).await?;
    let mut submitted = Vec::new();
    for row in session.rows(TRIGGERED, &[(&entry.symbol).into(), price.into()]).await? {
        let trade = row.int(0)?;
        session.change(1, SUBMIT, &[trade.into()]).await?;
        session.change(1, FORGET, &[trade.into()]).await?;
        session.change(1, HISTORY, &[trade.into()]).await?;
        submitted.push(Submission {
            trade,
            symbol: entry.symbol.clone(),
            trade_type: row.text(1)?.to_string(),
            quantity: row.int(2)?,
            bid: row.cents(3)?,
            at_once: true,
        });
    }
    Ok(Outcome { submitted, ..Outcome::default() })
}
