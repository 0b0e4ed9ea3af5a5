//! `pg_trigger`: PostgreSQL's triggers for FOREIGN KEYs. PercoSQL enforces these keys differently; the rows serve
//! clients that look for them. Their OIDs are computed from the key's OID.

use super::asked::RelationKey;
use super::builtin::functions_of;
use super::definition::{Definition, Fill, Rows, value};
use super::describe::trigger_oid;
use catalog::ReferentialAction;
use executor::StatementContext;
use sql_error::Result;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: 2620,
    name: "pg_catalog.pg_trigger",
    columns: "oid oid=0, tgrelid oid=0, tgparentid oid=0, tgname name=, tgfoid oid=0, tgtype int2=0, tgenabled char=, \
              tgisinternal bool=f, tgconstrrelid oid=0, tgconstrindid oid=0, tgconstraint oid=0, tgdeferrable bool=f, \
              tginitdeferred bool=f, tgnargs int2=0, tgattr int2vector, tgargs bytea, tgqual pg_node_tree, tgoldtable name, \
              tgnewtable name",
    fill: Fill::Now(rows),
};

pub use catalog::parts::OF_A_KEY;

/// The name of a trigger. The first two belong to the referenced table.
pub fn trigger_name(key: Oid, number: i16) -> String {
    let side = if number <= 2 { "a" } else { "c" };
    format!("RI_ConstraintTrigger_{side}_{}", trigger_oid(key, number))
}

/// Bits of `tgtype`: FOR EACH ROW and the event.
const ON_INSERT: i16 = 5;
const ON_DELETE: i16 = 9;
const ON_UPDATE: i16 = 17;

fn action_word(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "noaction",
        ReferentialAction::Restrict => "restrict",
        ReferentialAction::Cascade => "cascade",
        ReferentialAction::SetNull => "setnull",
        ReferentialAction::SetDefault => "setdefault",
    }
}

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Part("oid"), RelationKey::Part("tgconstraint")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        for key in &table.foreign_keys {
            let deferred = |action| action == ReferentialAction::NoAction;
            let (delete, update) = (action_word(key.on_delete), action_word(key.on_update));
            let triggers = [
                (true, format!("RI_FKey_{delete}_del"), ON_DELETE, deferred(key.on_delete)),
                (true, format!("RI_FKey_{update}_upd"), ON_UPDATE, deferred(key.on_update)),
                (false, "RI_FKey_check_ins".to_string(), ON_INSERT, true),
                (false, "RI_FKey_check_upd".to_string(), ON_UPDATE, true),
            ];
            let numbered = (1..=OF_A_KEY).zip(triggers).zip(key.triggers);
            for ((number, (of_parent, name, kind, may_wait)), enabled) in numbered {
                let oid = trigger_oid(key.oid, number);
                let function = functions_of(&name).next();
                let (own, other) = if of_parent { (key.parent, table.oid) } else { (table.oid, key.parent) };
                rows.add([
                    ("oid", value::oid(oid)),
                    ("tgrelid", value::oid(own)),
                    ("tgname", value::text(trigger_name(key.oid, number))),
                    ("tgfoid", value::oid(function.map_or(0, |function| function.oid))),
                    ("tgtype", Datum::from(kind)),
                    ("tgenabled", value::text(enabled.code())),
                    ("tgisinternal", Datum::from(true)),
                    ("tgconstrrelid", value::oid(other)),
                    ("tgconstrindid", value::oid(key.index)),
                    ("tgconstraint", value::oid(key.oid)),
                    ("tgdeferrable", Datum::from(key.deferrable && may_wait)),
                    ("tginitdeferred", Datum::from(key.deferred && may_wait)),
                    ("tgattr", value::int2_vector([])),
                    ("tgargs", Datum::LargeBinary(Some(Vec::new()))),
                ])?;
            }
        }
    }
    Ok(())
}
