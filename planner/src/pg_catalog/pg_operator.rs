//! `pg_operator`: the operators that the binder knows.

use super::definition::{Definition, Fill, Rows, value};
use super::probe;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::Oid;

/// `pg_catalog.pg_operator`.
pub(super) const VIEW: Definition = Definition {
    oid: 2617,
    name: "pg_catalog.pg_operator",
    columns: "oid oid=0, oprname name=, oprnamespace oid=0, oprowner oid=0, oprkind char=, oprcanmerge bool=f, \
              oprcanhash bool=f, oprleft oid=0, oprright oid=0, oprresult oid=0, oprcom oid=0, oprnegate oid=0, \
              oprcode regproc=0, oprrest regproc=0, oprjoin regproc=0",
    fill: Fill::Now(rows),
};

/// OIDs of operators begin here: far above those that are given out.
const FIRST_OID: Oid = 0x6000_0000;

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for operator in probe::OPERATORS.iter() {
        let left = operator.left.map_or(0, |ty| ty.oid());
        let right = operator.right.oid();
        rows.add([
            ("oid", value::oid(FIRST_OID | (probe::hash(operator.symbol, &[left, right]) & 0x0fff_ffff))),
            ("oprname", value::text(operator.symbol)),
            ("oprnamespace", value::oid(11)),
            ("oprowner", value::oid(10)),
            ("oprkind", value::text(if operator.left.is_some() { "b" } else { "l" })),
            ("oprleft", value::oid(left)),
            ("oprright", value::oid(right)),
            ("oprresult", value::oid(operator.result.oid())),
        ])?;
    }
    Ok(())
}
