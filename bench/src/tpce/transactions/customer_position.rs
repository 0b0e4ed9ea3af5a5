//! Customer-Position: a customer's data, accounts and assets, and optionally the history of one account.

use super::Outcome;
use crate::error::Result;
use crate::session::Session;

pub struct CustomerPosition {
    pub customer: i64,
    /// Tax id by which to look the customer up, instead of the id.
    pub tax_id: Option<String>,
    /// Index of the account whose history is shown.
    pub history_of: Option<u64>,
}

const BY_TAX_ID: &str = "select c_id from customer where c_tax_id = $1";

const CUSTOMER: &str = "select c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id,
    c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3,
    c_email_1, c_email_2 from customer where c_id = $1";

const ACCOUNTS: &str = "select ca_id, ca_bal, coalesce(sum(hs_qty * lt_price), 0) as assets
    from customer_account
    left join holding_summary on hs_ca_id = ca_id
    left join last_trade on lt_s_symb = hs_s_symb
    where ca_c_id = $1
    group by ca_id, ca_bal order by assets limit 10";

const HISTORY: &str = "select newest.t_id, newest.t_s_symb, newest.t_qty, st_name, th_dts
    from (select t_id, t_s_symb, t_qty from trade where t_ca_id = $1 order by t_dts desc limit 10) newest
    join trade_history on th_t_id = newest.t_id
    join status_type on st_id = th_st_id
    order by th_dts desc limit 30";

impl CustomerPosition {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let customer = match &self.tax_id {
            Some(tax_id) => session.row(BY_TAX_ID, &[tax_id.into()]).await?.int(0)?,
            None => self.customer,
        };
        session.row(CUSTOMER, &[customer.into()]).await?;
        let accounts = session.rows(ACCOUNTS, &[customer.into()]).await?;
        let mut fine = customer == self.customer && (1..=10).contains(&accounts.len());
        for account in &accounts {
            account.cents(1)?;
            account.cents(2)?;
        }
        if let Some(draw) = self.history_of
            && let Some(account) = accounts.get((draw % accounts.len().max(1) as u64) as usize)
        {
            let history = session.rows(HISTORY, &[account.int(0)?.into()]).await?;
            fine &= (10..=30).contains(&history.len());
        }
        Ok(Outcome::expect(fine))
    }
}
