//! Market-Watch: the change of the value of some securities since a day.

use super::Outcome;
use crate::error::Result;
use crate::session::Session;
use crate::value::Value;

/// Selection of the watched securities.
pub enum Watched {
    /// The securities on the watch list of a customer.
    List(i64),
    /// The securities that an account holds.
    Held(i64),
    /// The securities of an industry's companies, with company ids in a range.
    Industry(String, i64, i64),
}

pub struct MarketWatch {
    pub watched: Watched,
    /// First day, in days since 2000-01-01.
    pub since: i64,
}

const BY_CUSTOMER: &str = "select sum(s_num_out * dm_close), sum(s_num_out * lt_price)
    from watch_list
    join watch_item on wi_wl_id = wl_id
    join security on s_symb = wi_s_symb
    join last_trade on lt_s_symb = s_symb
    join daily_market on dm_s_symb = s_symb and dm_date = $2
    where wl_c_id = $1";

const BY_ACCOUNT: &str = "select sum(s_num_out * dm_close), sum(s_num_out * lt_price)
    from holding_summary
    join security on s_symb = hs_s_symb
    join last_trade on lt_s_symb = s_symb
    join daily_market on dm_s_symb = s_symb and dm_date = $2
    where hs_ca_id = $1";

const BY_INDUSTRY: &str = "select sum(s_num_out * dm_close), sum(s_num_out * lt_price)
    from industry
    join company on co_in_id = in_id
    join security on s_co_id = co_id
    join last_trade on lt_s_symb = s_symb
    join daily_market on dm_s_symb = s_symb and dm_date = $2
    where in_name = $1 and co_id between $3 and $4";

impl MarketWatch {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let since = Value::Day(self.since);
        let row = match &self.watched {
            Watched::List(id) => session.row(BY_CUSTOMER, &[(*id).into(), since]).await?,
            Watched::Held(id) => session.row(BY_ACCOUNT, &[(*id).into(), since]).await?,
            Watched::Industry(name, low, high) => {
                session.row(BY_INDUSTRY, &[name.into(), since, (*low).into(), (*high).into()]).await?
            }
        };
        // An account may hold nothing, but every industry has companies.
        if row.is_null(0) {
            return Ok(Outcome::expect(matches!(self.watched, Watched::Held(_))));
        }
        let (old, new) = (row.cents(0)?, row.cents(1)?);
        let percent = 100.0 * (new as f64 / old as f64 - 1.0);
        Ok(Outcome::expect(percent.is_finite()))
    }
}
