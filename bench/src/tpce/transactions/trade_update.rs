//! Trade-Update: finds trades as Trade-Lookup does, and makes a reversible change to each.

use super::Outcome;
use super::trade_lookup::{Wanted, find, satellites};
use crate::error::Result;
use crate::session::Session;

pub struct TradeUpdate(pub Wanted);

const EXECUTOR: &str = "update trade set t_exec_name = $2 where t_id = $1";
const SETTLEMENT: &str = "update settlement set se_cash_type = $2 where se_t_id = $1";
const CASH: &str = "update cash_transaction set ct_name = $2 where ct_t_id = $1";

const DESCRIPTION: &str =
    "select tt_name, t_qty, s_name from trade join trade_type on tt_id = t_tt_id join security on s_symb = t_s_symb
    where t_id = $1";

/// Toggles a mark between the words of the executor's name.
fn toggled_executor(name: &str) -> String {
    if name.contains(" X ") { name.replacen(" X ", " ", 1) } else { name.replacen(' ', " X ", 1) }
}

/// Toggles between the short and the long name of a settlement's kind.
fn toggled_cash_type(in_cash: bool, now: &str) -> &'static str {
    match (in_cash, now) {
        (true, "Cash Account") => "Cash",
        (true, _) => "Cash Account",
        (false, "Margin Account") => "Margin",
        (false, _) => "Margin Account",
    }
}

impl TradeUpdate {
    pub async fn perform(&self, session: &mut Session) -> Result<Outcome> {
        let trades = find(session, &self.0).await?;
        if trades.is_empty() {
            return Ok(Outcome::expect(false));
        }
        if let Wanted::Ids(_) = self.0 {
            for trade in &trades {
                session
                    .change(1, EXECUTOR, &[trade.int(0)?.into(), (&toggled_executor(trade.text(2)?)).into()])
                    .await?;
            }
        }
        let (whole, settlements, cash) = satellites(session, &trades).await?;
        match self.0 {
            Wanted::OfAccount { .. } => {
                for settlement in &settlements {
                    let id = settlement.int(0)?;
                    let mut in_cash = false;
                    for trade in &trades {
                        in_cash |= trade.int(0)? == id && trade.flag(1)?;
                    }
                    let kind = toggled_cash_type(in_cash, settlement.text(3)?);
                    session.change(1, SETTLEMENT, &[id.into(), kind.into()]).await?;
                }
            }
            Wanted::OfSecurity { .. } => {
                for row in &cash {
                    let id = row.int(0)?;
                    let trade = session.row(DESCRIPTION, &[id.into()]).await?;
                    let shares = if row.text(3)?.contains(" shares of ") { "Shares" } else { "shares" };
                    let name = format!("{} {} {shares} of {}", trade.text(0)?, trade.int(1)?, trade.text(2)?);
                    session.change(1, CASH, &[id.into(), (&name).into()]).await?;
                }
            }
            Wanted::Ids(_) | Wanted::LotsOf { .. } => {}
        }
        let found = !matches!(&self.0, Wanted::Ids(ids) if ids.len() != trades.len());
        Ok(Outcome::expect(found && whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toggles_come_back() {
        assert_eq!(toggled_executor("Ada Berg"), "Ada X Berg");
        assert_eq!(toggled_executor(&toggled_executor("Ada Berg")), "Ada Berg");
        assert_eq!(toggled_cash_type(false, toggled_cash_type(false, "Margin")), "Margin");
    }
}
