//! Trade-Cleanup: cancels orders before a run that an earlier run left waiting or submitted. The market forgets them
//! between runs.

use crate::error::Result;
use crate::session::Session;
use crate::value::Value;

const WAITING: &str = "select tr_t_id from trade_request order by tr_t_id";
const SUBMITTED: &str = "select t_id from trade where t_id >= $1 and t_st_id = 'SBMT' order by t_id";

const SUBMIT: &str = "insert into trade_history (th_t_id, th_dts, th_st_id)
    select id, localtimestamp, 'SBMT' from unnest($1::bigint[]) as id on conflict do nothing";
const CANCEL: &str = "update trade set t_st_id = 'CNCL', t_dts = localtimestamp where t_id = any($1)";
const CANCELED: &str = "insert into trade_history (th_t_id, th_dts, th_st_id)
    select id, localtimestamp, 'CNCL' from unnest($1::bigint[]) as id on conflict do nothing";
const FORGET: &str = "delete from trade_request where tr_t_id = any($1)";

/// Cancels the trades. Answers their number. `first` is the smallest id that a run may have assigned.
pub async fn perform(session: &mut Session, first: i64) -> Result<usize> {
    session.command("begin").await?;
    let ids = |rows: Vec<crate::session::Record>| rows.iter().map(|row| row.int(0)).collect::<Result<Vec<i64>>>();
    let waiting = ids(session.rows(WAITING, &[]).await?)?;
    let submitted = ids(session.rows(SUBMITTED, &[first.into()]).await?)?;
    session.run(SUBMIT, &[Value::Ints(waiting.clone())]).await?;
    let all: Vec<i64> = waiting.iter().chain(&submitted).copied().collect();
    session.run(CANCEL, &[Value::Ints(all.clone())]).await?;
    session.run(CANCELED, &[Value::Ints(all.clone())]).await?;
    session.run(FORGET, &[Value::Ints(waiting)]).await?;
    session.command("commit").await?;
    Ok(all.len())
}
