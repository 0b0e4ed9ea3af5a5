//! Security-Detail: all data of a security, its company and its exchange.

use super::Outcome;
use crate::error::Result;
use crate::session::Session;
use crate::value::Value;

pub struct SecurityDetail {
    pub symbol: String,
    /// Number of market days to show, from `since` on.
    pub rows: i64,
    pub since: i64,
    /// Whether to read the text of the news too.
    pub with_text: bool,
}

const SECURITY: &str = "select s_name, co_id, co_name, co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id,
    ca.ad_line1, ca.ad_line2, zca.zc_town, zca.zc_div, ca.ad_zc_code, ca.ad_ctry,
    s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high, s_52wk_high_date, s_52wk_low, s_52wk_low_date, s_dividend, s_yield,
    zea.zc_div, ea.ad_ctry, ea.ad_line1, ea.ad_line2, zea.zc_town, ea.ad_zc_code, ex_close, ex_desc, ex_name, ex_num_symb, ex_open
    from security
    join company on co_id = s_co_id
    join address ca on ca.ad_id = co_ad_id
    join zip_code zca on zca.zc_code = ca.ad_zc_code
    join exchange on ex_id = s_ex_id
    join address ea on ea.ad_id = ex_ad_id
    join zip_code zea on zea.zc_code = ea.ad_zc_code
    where s_symb = $1";

const COMPETITORS: &str = "select co_name, in_name from company_competitor
    join company on co_id = cp_comp_co_id
    join industry on in_id = cp_in_id
    where cp_co_id = $1 limit 3";

const FINANCIAL: &str =
    "select fi_year, fi_qtr, fi_qtr_start_date, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin,
    fi_inventory, fi_assets, fi_liability, fi_out_basic, fi_out_dilut
    from financial where fi_co_id = $1 order by fi_year, fi_qtr limit 20";

const DAILY: &str = "select dm_date, dm_close, dm_high, dm_low, dm_vol from daily_market
    where dm_s_symb = $1 and dm_date >= $2 order by dm_date limit $3";

const LAST: &str = "select lt_price, lt_open_price, lt_vol from last_trade where lt_s_symb = $1";

const NEWS_TEXT: &str = "select ni_item, ni_dts, ni_source, ni_author from news_xref join news_item on ni_id = nx_ni_id
    where nx_co_id = $1 limit 2";

const NEWS_HEADLINES: &str = "select ni_headline, ni_summary, ni_dts, ni_source, ni_author
    from news_xref join news_item on ni_id = nx_ni_id where nx_co_id = $1 limit 2";

impl SecurityDetail {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let company = session.row(SECURITY, &[(&self.symbol).into()]).await?.int(1)?;
        let competitors = session.rows(COMPETITORS, &[company.into()]).await?;
        let quarters = session.rows(FINANCIAL, &[company.into()]).await?;
        let days = session.rows(DAILY, &[(&self.symbol).into(), Value::Day(self.since), self.rows.into()]).await?;
        session.row(LAST, &[(&self.symbol).into()]).await?.cents(0)?;
        let news = session.rows(if self.with_text { NEWS_TEXT } else { NEWS_HEADLINES }, &[company.into()]).await?;
        let fine = competitors.len() == 3 && quarters.len() == 20 && days.len() as i64 == self.rows && news.len() == 2;
        Ok(Outcome::expect(fine))
    }
}
