//! Data-Maintenance: once a minute, one of twelve small changes in turn. No other transaction makes these changes.

use super::Outcome;
use crate::error::{Error, Result};
use crate::session::Session;

/// The table that a maintenance changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintained {
    AccountPermission,
    Address,
    Company,
    Customer,
    CustomerTaxrate,
    DailyMarket,
    Exchange,
    Financial,
    NewsItem,
    Security,
    Taxrate,
    WatchItem,
}

pub const MAINTAINED: [Maintained; 12] = [
    Maintained::AccountPermission,
    Maintained::Address,
    Maintained::Company,
    Maintained::Customer,
    Maintained::CustomerTaxrate,
    Maintained::DailyMarket,
    Maintained::Exchange,
    Maintained::Financial,
    Maintained::NewsItem,
    Maintained::Security,
    Maintained::Taxrate,
    Maintained::WatchItem,
];

pub struct DataMaintenance {
    pub what: Maintained,
    pub account: i64,
    pub customer: i64,
    pub company: i64,
    /// Whether the company's address is changed instead of the customer's.
    pub of_company: bool,
    pub symbol: String,
    pub day_of_month: i64,
    /// Amount to add to volumes, never 0.
    pub volume: i64,
    pub tax_id: String,
}

const HIGHEST_ACL: &str = "select max(ap_acl) from account_permission where ap_ca_id = $1";
const ACL: &str = "update account_permission set ap_acl = $3 where ap_ca_id = $1 and ap_acl = $2";
const ADDRESS_OF_CUSTOMER: &str = "select c_ad_id from customer where c_id = $1";
const ADDRESS_OF_COMPANY: &str = "select co_ad_id from company where co_id = $1";
const ADDRESS: &str =
    "update address set ad_line2 = case when ad_line2 = 'Apt. 10C' then 'Apt. 22' else 'Apt. 10C' end where ad_id = $1";
const RATING: &str =
    "update company set co_sp_rate = case when co_sp_rate = 'ABA' then 'AAA' else 'ABA' end where co_id = $1";
const MAIL: &str = "select c_email_2 from customer where c_id = $1";
const NEW_MAIL: &str = "update customer set c_email_2 = $2 where c_id = $1";
const COUNTRY_RATE: &str = "select cx_tx_id from customer_taxrate
    where cx_c_id = $1 and (cx_tx_id like 'US%' or cx_tx_id like 'CN%')";
const NEW_RATE: &str = "update customer_taxrate set cx_tx_id = $3 where cx_c_id = $1 and cx_tx_id = $2";
const VOLUMES: &str = "update daily_market set dm_vol = dm_vol + $3
    where dm_s_symb = $1 and extract(day from dm_date) = $2";
const EXCHANGES: &str = "update exchange set ex_desc = case
    when position(' LAST UPDATED ' in ex_desc) > 0
    then substring(ex_desc from 1 for position(' LAST UPDATED ' in ex_desc) - 1) else ex_desc end
    || ' LAST UPDATED ' || to_char(localtimestamp, 'YYYY-MM-DD HH24:MI:SS')";
const ON_FIRST: &str = "select count(*) from financial where fi_co_id = $1 and extract(day from fi_qtr_start_date) = 1";
const LATER: &str = "update financial set fi_qtr_start_date = fi_qtr_start_date + interval '1 day' where fi_co_id = $1";
const EARLIER: &str =
    "update financial set fi_qtr_start_date = fi_qtr_start_date - interval '1 day' where fi_co_id = $1";
const NEWS: &str = "update news_item set ni_dts = ni_dts + interval '1 day'
    where ni_id in (select nx_ni_id from news_xref where nx_co_id = $1)";
const LISTED: &str = "update security set s_exch_date = s_exch_date + interval '1 day' where s_symb = $1";
const TAX_NAME: &str =
    "update taxrate set tx_name = case when tx_name like '% Tax %' then replace(tx_name, ' Tax ', ' tax ')
    else replace(tx_name, ' tax ', ' Tax ') end where tx_id = $1";
const WATCHED: &str =
    "select wi_wl_id, wi_s_symb from watch_list join watch_item on wi_wl_id = wl_id where wl_c_id = $1
    order by wi_s_symb";
const NEXT_SYMBOL: &str = "select s_symb from security
    where s_symb > $2 and s_symb not in (select wi_s_symb from watch_item where wi_wl_id = $1) order by s_symb limit 1";
const WATCH: &str = "update watch_item set wi_s_symb = $3 where wi_wl_id = $1 and wi_s_symb = $2";

impl DataMaintenance {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let (customer, company) = (self.customer.into(), self.company.into());
        let changed = match self.what {
            Maintained::AccountPermission => {
                let highest = session.row(HIGHEST_ACL, &[self.account.into()]).await?;
                let acl = highest.text(0)?;
                let new = if acl == "1111" { "0011" } else { "1111" };
                session.run(ACL, &[self.account.into(), acl.into(), new.into()]).await?
            }
            Maintained::Address => {
                let address = match self.of_company {
                    true => session.row(ADDRESS_OF_COMPANY, &[company]).await?,
                    false => session.row(ADDRESS_OF_CUSTOMER, &[customer]).await?,
                };
                session.run(ADDRESS, &[address.int(0)?.into()]).await?
            }
            Maintained::Company => session.run(RATING, &[company]).await?,
            Maintained::Customer => {
                let mail = session.row(MAIL, &[self.customer.into()]).await?.text(0)?.to_string();
                let user = mail.split('@').next().unwrap_or_default();
                let domain = if mail.ends_with("@first.example") { "second.example" } else { "first.example" };
                session.run(NEW_MAIL, &[customer, (&format!("{user}@{domain}")).into()]).await?
            }
            Maintained::CustomerTaxrate => {
                let old = session.row(COUNTRY_RATE, &[self.customer.into()]).await?.text(0)?.to_string();
                session.run(NEW_RATE, &[customer, (&old).into(), (&next_bracket(&old)).into()]).await?
            }
            Maintained::DailyMarket => {
                session.run(VOLUMES, &[(&self.symbol).into(), self.day_of_month.into(), self.volume.into()]).await?
            }
            Maintained::Exchange => session.run(EXCHANGES, &[]).await?,
            Maintained::Financial => {
                let on_first = session.row(ON_FIRST, &[self.company.into()]).await?.int(0)?;
                session.run(if on_first > 0 { LATER } else { EARLIER }, &[company]).await?
            }
            Maintained::NewsItem => session.run(NEWS, &[company]).await?,
            Maintained::Security => session.run(LISTED, &[(&self.symbol).into()]).await?,
            Maintained::Taxrate => session.run(TAX_NAME, &[(&self.tax_id).into()]).await?,
            Maintained::WatchItem => {
                let items = session.rows(WATCHED, &[customer]).await?;
                let middle = items.get(items.len() / 2).ok_or_else(|| Error::other("an empty watch list"))?;
                let (list, old) = (middle.int(0)?, middle.text(1)?);
                match session.maybe(NEXT_SYMBOL, &[list.into(), old.into()]).await? {
                    Some(next) => session.run(WATCH, &[list.into(), old.into(), next.text(0)?.into()]).await?,
                    None => 0,
                }
            }
        };
        Ok(Outcome::expect(changed > 0))
    }
}

/// The next bracket of the same country.
fn next_bracket(id: &str) -> String {
    let count = if id.starts_with("US") { 5 } else { 4 };
    let bracket = id.get(2..).and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    format!("{}{}", id.get(..2).unwrap_or("US"), bracket % count + 1)
}
