//! Broker-Volume: the value of open orders of some brokers in one sector.

use super::Outcome;
use crate::error::Result;
use crate::session::Session;
use crate::value::Value;

pub struct BrokerVolume {
    pub brokers: Vec<String>,
    pub sector: &'static str,
}

const VOLUME: &str = "select b_name, sum(tr_qty * tr_bid_price) as volume
    from trade_request
    join broker on b_id = tr_b_id
    join security on s_symb = tr_s_symb
    join company on co_id = s_co_id
    join industry on in_id = co_in_id
    join sector on sc_id = in_sc_id
    where b_name = any($1) and sc_name = $2
    group by b_name order by volume desc";

impl BrokerVolume {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let rows = session.rows(VOLUME, &[Value::Texts(self.brokers.clone()), self.sector.into()]).await?;
        // The result may be empty, because few orders wait.
        for row in &rows {
            row.cents(1)?;
        }
        Ok(Outcome::expect(rows.len() <= self.brokers.len()))
    }
}
