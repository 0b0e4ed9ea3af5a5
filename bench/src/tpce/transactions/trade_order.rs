//! Trade-Order: a customer or an authorized person orders to buy or sell. The transaction estimates the cost and books
//! the order. A trial order is rolled back at the end.

use super::{Outcome, Submission};
use crate::decimal::{cents, divide};
use crate::error::Result;
use crate::session::{Record, Session};
use crate::tpce::population::TradeType;
use crate::value::Value;

pub struct TradeOrder {
    pub account: i64,
    pub executor_first: String,
    pub executor_last: String,
    pub executor_tax_id: String,
    pub symbol: String,
    /// Company and issue, if they identify the security instead of the symbol.
    pub by_name: Option<(String, &'static str)>,
    pub trade_type: &'static TradeType,
    pub quantity: i64,
    pub is_lifo: bool,
    pub on_margin: bool,
    /// Price of a limit order in cents.
    pub price: i64,
    pub roll_back: bool,
}

const ACCOUNT: &str = "select ca_name, ca_b_id, ca_c_id, ca_tax_st, c_f_name, c_l_name, c_tier, c_tax_id, b_name
    from customer_account join customer on c_id = ca_c_id join broker on b_id = ca_b_id where ca_id = $1";

const PERMISSION: &str = "select ap_acl from account_permission
    where ap_ca_id = $1 and ap_f_name = $2 and ap_l_name = $3 and ap_tax_id = $4";

const SECURITY: &str =
    "select s_symb, s_ex_id, s_name, co_name from security join company on co_id = s_co_id where s_symb = $1";

const SECURITY_BY_NAME: &str = "select s_symb, s_ex_id, s_name, co_name from company join security on s_co_id = co_id
    where co_name = $1 and s_issue = $2";

const MARKET_PRICE: &str = "select lt_price from last_trade where lt_s_symb = $1";
const TYPE: &str = "select tt_is_mrkt, tt_is_sell from trade_type where tt_id = $1";
const HELD: &str = "select hs_qty from holding_summary where hs_ca_id = $1 and hs_s_symb = $2";
const LOTS_NEWEST: &str = "select h_qty, h_price from holding where h_ca_id = $1 and h_s_symb = $2 order by h_dts desc";
const LOTS_OLDEST: &str = "select h_qty, h_price from holding where h_ca_id = $1 and h_s_symb = $2 order by h_dts";

const TAX_RATE: &str = "select sum(tx_rate) from customer_taxrate join taxrate on tx_id = cx_tx_id where cx_c_id = $1";

const COMMISSION: &str = "select cr_rate from commission_rate
    where cr_c_tier = $1 and cr_tt_id = $2 and cr_ex_id = $3 and cr_from_qty <= $4 and cr_to_qty >= $4";

const CHARGE: &str = "select ch_chrg from charge where ch_c_tier = $1 and ch_tt_id = $2";

const ASSETS: &str = "select ca_bal, sum(hs_qty * lt_price) from customer_account
    left join holding_summary on hs_ca_id = ca_id
    left join last_trade on lt_s_symb = hs_s_symb
    where ca_id = $1 group by ca_bal";

const TRADE: &str =
    "insert into trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name,
    t_trade_price, t_chrg, t_comm, t_tax, t_lifo)
    values (nextval('trade_id'), localtimestamp, $1, $2, $3, $4, $5, $6, $7, $8, null, $9, $10, 0, $11) returning t_id";

const REQUEST: &str = "insert into trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id)
    values ($1, $2, $3, $4, $5, $6)";

const HISTORY: &str = "insert into trade_history (th_t_id, th_dts, th_st_id) values ($1, localtimestamp, $2)";

/// The sum of a customer's tax rates, in hundred-thousandths.
pub async fn tax_rate(session: &mut Session, customer: i64) -> Result<i64> {
    session.row(TAX_RATE, &[customer.into()]).await?.decimal(0, 5)
}

/// The commission on a trade in cents.
pub async fn commission(
    session: &mut Session,
    tier: i64,
    trade_type: &str,
    exchange: &str,
    quantity: i64,
    price: i64,
) -> Result<i64> {
    let rate = session.row(COMMISSION, &[tier.into(), trade_type.into(), exchange.into(), quantity.into()]).await?;
    Ok(divide(i128::from(rate.decimal(0, 2)?) * i128::from(quantity) * i128::from(price), 10_000))
}

impl TradeOrder {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        // Frame 1: the account, its owner and its broker.
        let account = session.row(ACCOUNT, &[self.account.into()]).await?;
        let owned = account.text(4)? == self.executor_first
            && account.text(5)? == self.executor_last
            && account.text(7)? == self.executor_tax_id;
        // Frame 2: the permission of another person to act.
        if !owned {
            let who = [&self.executor_first, &self.executor_last, &self.executor_tax_id];
            let [first, last, tax_id] = who.map(Value::from);
            if session.maybe(PERMISSION, &[self.account.into(), first, last, tax_id]).await?.is_none() {
                return Ok(Outcome { warnings: 1, rollback: true, ..Outcome::default() });
            }
        }
        // Frame 3: the estimated cost.
        let security = match &self.by_name {
            Some((company, issue)) => session.row(SECURITY_BY_NAME, &[company.into(), (*issue).into()]).await?,
            None => session.row(SECURITY, &[(&self.symbol).into()]).await?,
        };
        let symbol = security.text(0)?.to_string();
        let market_price = session.row(MARKET_PRICE, &[(&symbol).into()]).await?.cents(0)?;
        let type_id = self.trade_type.id;
        let flags = session.row(TYPE, &[type_id.into()]).await?;
        let (is_market, is_sell) = (flags.flag(0)?, flags.flag(1)?);
        let price = if is_market { market_price } else { self.price };
        let tax = self.estimated_tax(session, &account, &symbol, is_sell, price).await?;
        let tier = account.int(6)?;
        let commission = commission(session, tier, type_id, security.text(1)?, self.quantity, price).await?;
        let charge = session.row(CHARGE, &[tier.into(), type_id.into()]).await?.cents(0)?;
        if self.on_margin {
            let row = session.row(ASSETS, &[self.account.into()]).await?;
            let held = if row.is_null(1) { 0 } else { row.cents(1)? };
            let _assets = row.cents(0)? + held;
        }
        // Frame 4: the order.
        let status = if is_market { "SBMT" } else { "PNDG" };
        let executor = format!("{} {}", self.executor_first, self.executor_last);
        let values = [
            status.into(),
            type_id.into(),
            (!self.on_margin).into(),
            (&symbol).into(),
            self.quantity.into(),
            cents(price).into(),
            self.account.into(),
            (&executor).into(),
            cents(charge).into(),
            cents(commission).into(),
            self.is_lifo.into(),
        ];
        let trade = session.row(TRADE, &values).await?.int(0)?;
        if !is_market {
            let price = cents(price).into();
            let broker = account.int(1)?.into();
            let values = [trade.into(), type_id.into(), (&symbol).into(), self.quantity.into(), price, broker];
            session.change(1, REQUEST, &values).await?;
        }
        session.change(1, HISTORY, &[trade.into(), status.into()]).await?;
        let submission = Submission {
            trade,
            symbol: symbol.clone(),
            trade_type: type_id.to_string(),
            quantity: self.quantity,
            bid: price,
            at_once: is_market,
        };
        // The driver runs frames 5 and 6: it rolls back, or commits and informs the market.
        Ok(Outcome {
            warnings: u64::from(commission <= 0 || charge <= 0 || tax < 0 || symbol != self.symbol),
            rollback: self.roll_back,
            submitted: vec![submission],
            trade: Some(trade),
        })
    }

    /// The estimated tax, if the order would close existing lots with a gain.
    async fn estimated_tax(
        &self,
        session: &mut Session,
        account: &Record,
        symbol: &str,
        is_sell: bool,
        price: i64,
    ) -> Result<i64> {
        let held = session.maybe(HELD, &[self.account.into(), symbol.into()]).await?;
        let held = held.map_or(Ok(0), |row| row.int(0))?;
        let closes = if is_sell { held > 0 } else { held < 0 };
        if !closes {
            return Ok(0);
        }
        let lots = if self.is_lifo { LOTS_NEWEST } else { LOTS_OLDEST };
        let mut need = self.quantity;
        let mut gain = 0;
        for lot in session.rows(lots, &[self.account.into(), symbol.into()]).await? {
            let taken = need.min(lot.int(0)?.abs());
            let difference = price - lot.cents(1)?;
            gain += taken * if is_sell { difference } else { -difference };
            need -= taken;
            if need == 0 {
                break;
            }
        }
        if gain <= 0 || account.int(3)? == 0 {
            return Ok(0);
        }
        let rate = tax_rate(session, account.int(2)?).await?;
        Ok(divide(i128::from(gain) * i128::from(rate), 100_000))
    }
}
