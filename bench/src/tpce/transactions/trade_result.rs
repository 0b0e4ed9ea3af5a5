//! Trade-Result: books an executed order on holdings, taxes, commission, broker, settlement and balance.

use super::trade_order::{commission, tax_rate};
use super::{BrokerMode, Outcome};
use crate::decimal::{cents, divide};
use crate::error::Result;
use crate::session::{Record, Session};

pub struct TradeResult {
    pub trade: i64,
    /// Price of the trade in cents.
    pub price: i64,
}

const TRADE: &str = "select t_ca_id, t_tt_id, t_s_symb, t_qty, t_chrg, t_lifo, t_is_cash, tt_name, tt_is_sell
    from trade join trade_type on tt_id = t_tt_id where t_id = $1";

// The lock on the account serializes the results of one account, below REPEATABLE READ too.
const ACCOUNT: &str = "select ca_b_id, ca_c_id, ca_tax_st from customer_account where ca_id = $1 for update";

const HELD: &str = "select hs_qty from holding_summary where hs_ca_id = $1 and hs_s_symb = $2";
const HOLD: &str = "insert into holding_summary (hs_ca_id, hs_s_symb, hs_qty) values ($1, $2, $3)";
const HOLD_OTHER: &str = "update holding_summary set hs_qty = $3 where hs_ca_id = $1 and hs_s_symb = $2";
const HOLD_NOTHING: &str = "delete from holding_summary where hs_ca_id = $1 and hs_s_symb = $2";

const LOTS_NEWEST: &str = "select h_t_id, h_qty, h_price from holding where h_ca_id = $1 and h_s_symb = $2
    order by h_dts desc for update";
const LOTS_OLDEST: &str = "select h_t_id, h_qty, h_price from holding where h_ca_id = $1 and h_s_symb = $2
    order by h_dts for update";
const LOT: &str = "insert into holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) values ($1, $2, $3, localtimestamp, $4, $5)";
const LOT_SHRINKS: &str = "update holding set h_qty = $2 where h_t_id = $1";
const LOT_ENDS: &str = "delete from holding where h_t_id = $1";
const LOT_HISTORY: &str =
    "insert into holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) values ($1, $2, $3, $4)";

const TERMS: &str = "select s_ex_id, s_name, c_tier from security, customer where s_symb = $1 and c_id = $2";

const COMPLETE: &str =
    "update trade set t_comm = $2, t_tax = $3, t_trade_price = $4, t_dts = localtimestamp, t_st_id = 'CMPT'
    where t_id = $1";
const HISTORY: &str = "insert into trade_history (th_t_id, th_dts, th_st_id) values ($1, localtimestamp, 'CMPT')";
const BROKER: &str =
    "update broker set b_num_trades = b_num_trades + 1, b_comm_total = b_comm_total + $2 where b_id = $1";
const BROKER_DELTA: &str = "insert into broker_delta (bd_t_id, bd_b_id, bd_comm) values ($1, $2, $3)";

const SETTLEMENT: &str = "insert into settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt)
    values ($1, $2, current_date + 2, $3)";
const BALANCE: &str = "update customer_account set ca_bal = ca_bal + $2 where ca_id = $1";
const CASH: &str =
    "insert into cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) values ($1, localtimestamp, $2, $3)";
const READ_BALANCE: &str = "select ca_bal from customer_account where ca_id = $1";

impl TradeResult {
    pub async fn perform(&self, session: &mut Session, broker: BrokerMode) -> Result<Outcome> {
        // Frames 1 and 2: the trade, the account, the holdings and the lots.
        let trade = session.row(TRADE, &[self.trade.into()]).await?;
        let account_id = trade.int(0)?;
        let account = session.row(ACCOUNT, &[account_id.into()]).await?;
        let (trade_type, symbol, is_sell) = (trade.text(1)?, trade.text(2)?, trade.flag(8)?);
        let quantity = trade.int(3)?;
        let gain = self.hold(session, &trade, account_id, symbol, if is_sell { -quantity } else { quantity }).await?;
        // Frame 3: tax on a gain.
        let (customer, status) = (account.int(1)?, account.int(2)?);
        let tax = if status > 0 && gain > 0 {
            divide(i128::from(gain) * i128::from(tax_rate(session, customer).await?), 100_000)
        } else {
            0
        };
        // Frame 4: commission.
        let terms = session.row(TERMS, &[symbol.into(), customer.into()]).await?;
        let commission = commission(session, terms.int(2)?, trade_type, terms.text(0)?, quantity, self.price).await?;
        // Frame 5: the trade is complete.
        let values = [self.trade.into(), cents(commission).into(), cents(tax).into(), cents(self.price).into()];
        session.change(1, COMPLETE, &values).await?;
        session.change(1, HISTORY, &[self.trade.into()]).await?;
        let broker_id = account.int(0)?;
        match broker {
            BrokerMode::Exact => session.change(1, BROKER, &[broker_id.into(), cents(commission).into()]).await?,
            BrokerMode::Delta => {
                session
                    .change(1, BROKER_DELTA, &[self.trade.into(), broker_id.into(), cents(commission).into()])
                    .await?;
            }
            BrokerMode::Omit => {}
        }
        // Frame 6: money.
        let value = quantity * self.price;
        let costs = trade.cents(4)? + commission + if status == 1 { tax } else { 0 };
        let amount = cents(if is_sell { value - costs } else { -value - costs });
        let in_cash = trade.flag(6)?;
        let kind = if in_cash { "Cash Account" } else { "Margin" };
        session.change(1, SETTLEMENT, &[self.trade.into(), kind.into(), amount.into()]).await?;
        if in_cash {
            session.change(1, BALANCE, &[account_id.into(), amount.into()]).await?;
            let name = format!("{} {quantity} shares of {}", trade.text(7)?, terms.text(1)?);
            session.change(1, CASH, &[self.trade.into(), amount.into(), (&name).into()]).await?;
        }
        session.row(READ_BALANCE, &[account_id.into()]).await?.cents(0)?;
        Ok(Outcome::expect(commission > 0))
    }

    /// Changes the account's holdings by a signed number of shares. It closes lots of the other sign first, and the
    /// rest becomes a new lot. Answers the gain in cents.
    async fn hold(
        &self,
        session: &mut Session,
        trade: &Record,
        account: i64,
        symbol: &str,
        change: i64,
    ) -> Result<i64> {
        let key = || [account.into(), symbol.into()];
        let held = session.maybe(HELD, &key()).await?.map_or(Ok(0), |row| row.int(0))?;
        let [account_value, symbol_value] = key();
        if held == 0 {
            session.change(1, HOLD, &[account_value, symbol_value, change.into()]).await?;
        } else if held != -change {
            session.change(1, HOLD_OTHER, &[account_value, symbol_value, (held + change).into()]).await?;
        }
        let sign = change.signum();
        let mut need = change.abs();
        let mut gain = 0;
        if held.signum() == -sign {
            let lots = if trade.flag(5)? { LOTS_NEWEST } else { LOTS_OLDEST };
            for lot in session.rows(lots, &key()).await? {
                let (id, before) = (lot.int(0)?, lot.int(1)?);
                let taken = need.min(before.abs());
                let after = before + sign * taken;
                session.change(1, LOT_HISTORY, &[id.into(), self.trade.into(), before.into(), after.into()]).await?;
                if after == 0 {
                    session.change(1, LOT_ENDS, &[id.into()]).await?;
                } else {
                    session.change(1, LOT_SHRINKS, &[id.into(), after.into()]).await?;
                }
                gain += -sign * taken * (self.price - lot.cents(2)?);
                need -= taken;
                if need == 0 {
                    break;
                }
            }
        }
        if need > 0 {
            let rest = sign * need;
            session.change(1, LOT_HISTORY, &[self.trade.into(), self.trade.into(), 0.into(), rest.into()]).await?;
            let [account_value, symbol_value] = key();
            let price = cents(self.price).into();
            session.change(1, LOT, &[self.trade.into(), account_value, symbol_value, price, rest.into()]).await?;
        } else if held == -change {
            session.change(1, HOLD_NOTHING, &key()).await?;
        }
        Ok(gain)
    }
}
