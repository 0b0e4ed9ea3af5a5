//! ALTER TABLE … ENABLE and DISABLE TRIGGER. The only triggers are those of FOREIGN KEYs: two on the referring table
//! and two on the referenced one. Their state is stored with the FOREIGN KEY, in the referring table.

use super::DdlContext;
use super::create_table::Making;
use catalog::{TableDescriptor, TriggerState};
use pg_catalog::{OF_A_KEY, trigger_name};
use sql_error::{Result, SqlError, state};
use syntax::ast::TriggerChoice;
use types::Oid;

/// A trigger of a table.
struct Trigger {
    /// The OID of the referring table.
    child: Oid,
    /// The OID of the FOREIGN KEY.
    key: Oid,
    /// Its number among the triggers of its FOREIGN KEY, from 1.
    number: i16,
    name: String,
}

impl Making<'_> {
    /// Changes when triggers fire. Errors: 42704, 42501 for system triggers.
    pub(super) async fn set_triggers(&mut self, choice: &TriggerChoice, wanted: TriggerState) -> Result<()> {
        let mut triggers = triggers_of(self.context, &self.table);
        match choice {
            TriggerChoice::All => {}
            // All triggers belong to the system.
            TriggerChoice::User => return Ok(()),
            TriggerChoice::Named(name) => {
                let name = &name.value;
                triggers.retain(|trigger| trigger.name == *name);
                if triggers.is_empty() {
                    let message = format!("trigger \"{name}\" for table \"{}\" does not exist", self.table.name);
                    return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
                }
            }
        }
        let first = triggers.iter().map(|trigger| trigger.name.as_str()).min();
        if let Some(first) = first.filter(|_| !self.context.catalog.is_superuser(self.context.user)) {
            let message = format!("permission denied: \"{first}\" is a system trigger");
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        for trigger in triggers {
            if trigger.child == self.table.oid {
                set(&mut self.table, &trigger, wanted);
                continue;
            }
            let Some(child) = self.context.catalog.relation_by_oid(trigger.child) else { continue };
            self.context.take_alone(&child).await?;
            // The same statement may have changed the table before.
            let Some(mut table) = self.writer.stored(child.oid).await? else { continue };
            if set(&mut table, &trigger, wanted) {
                table.version = child.version + 1;
                self.writer.put_table(&table).await?;
            }
        }
        Ok(())
    }
}

/// Changes one trigger. Returns whether its state changed.
fn set(table: &mut TableDescriptor, trigger: &Trigger, wanted: TriggerState) -> bool {
    let key = table.foreign_keys.iter_mut().find(|key| key.oid == trigger.key);
    let at = usize::try_from(trigger.number - 1).ok();
    match key.zip(at).and_then(|(key, at)| key.triggers.get_mut(at)) {
        Some(state) if *state != wanted => {
            *state = wanted;
            true
        }
        _ => false,
    }
}

/// The triggers of a table in its present state.
fn triggers_of(context: &DdlContext, table: &TableDescriptor) -> Vec<Trigger> {
    let trigger = |child: Oid, key: Oid, number: i16| Trigger { child, key, number, name: trigger_name(key, number) };
    let others = context.catalog.referencing(table.oid).into_iter().filter(|(child, _)| child.oid != table.oid);
    let referred = others.map(|(child, key)| (child.oid, key.oid));
    let itself = table.foreign_keys.iter().filter(|key| key.parent == table.oid).map(|key| (table.oid, key.oid));
    let of_parent =
        referred.chain(itself).flat_map(|(child, key)| (1..=2).map(move |number| trigger(child, key, number)));
    let of_child = table.foreign_keys.iter();
    let of_child = of_child.flat_map(|key| (3..=OF_A_KEY).map(move |number| trigger(table.oid, key.oid, number)));
    of_parent.chain(of_child).collect()
}
