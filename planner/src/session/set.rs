//! SET, RESET and SHOW.

use super::Session;
use super::dispatch::text_columns;
use super::outcome::{Notice, Outcome, RowsTag};
use crate::error::{Result, SqlError, state};
use crate::parse::TransactionModes;
use crate::settings::{registry, unknown};
use context::private_settings::{private, sees_private};
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use std::sync::Arc;

/// A result of text columns with these names, as SHOW and EXPLAIN return.
pub fn text_rows(names: &[&str], rows: &[Vec<String>], tag: &str) -> Result<Outcome> {
    let fields: Vec<Field> =
        (0..names.len()).map(|column| Field::new(format!("c{column}"), DataType::Utf8, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let columns: Vec<ArrayRef> = (0..names.len())
        .map(|column| {
            let values = rows.iter().map(|row| row.get(column).map(String::as_str));
            Arc::new(values.collect::<StringArray>()) as ArrayRef
        })
        .collect();
    let batch = RecordBatch::try_new(schema.clone(), columns)?;
    let stream = Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::iter([Ok(batch)])));
    Ok(Outcome::Rows { columns: text_columns(names), stream, tag: RowsTag::Fixed(tag.to_string()) })
}

impl Session {
    /// Runs SET. `alone` says that the text holds no other statement. Several statements form a transaction block for
    /// SET LOCAL, as in PostgreSQL.
    pub(super) async fn run_set(
        &mut self,
        (local, alone): (bool, bool),
        name: &str,
        value: Option<&[String]>,
    ) -> Result<()> {
        self.block.ensure()?;
        self.warn_of_local(local && alone);
        match name {
            "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => {
                let modes = self.modes_of(name, value)?;
                return self.block.set_modes(modes).await;
            }
            _ => {}
        }
        let Some(values) = value else {
            return match local {
                true => self.shared.reset_config(name, true).map(drop),
                false => self.run_reset(name),
            };
        };
        let value = flattened(name, values)?;
        self.shared.set_config(name, &value, local)?;
        Ok(())
    }

    /// Warns of a SET LOCAL outside a block. The setting still lasts until the implicit transaction ends.
    fn warn_of_local(&self, local: bool) {
        if local && self.block.is_implicit() {
            let message = "SET LOCAL can only be used in transaction blocks";
            self.shared.notify(Notice::warning(state::NO_ACTIVE_SQL_TRANSACTION, message));
        }
    }

    /// `SET transaction_read_only = on` is the same as SET TRANSACTION READ ONLY.
    fn modes_of(&self, name: &str, value: Option<&[String]>) -> Result<TransactionModes> {
        use crate::parse::Isolation;
        use crate::settings::value::boolean;
        let default = self.shared.settings().get(&format!("default_{name}")).unwrap_or_default();
        let value = value.and_then(|values| values.first()).cloned().unwrap_or(default);
        let invalid = || {
            SqlError::new(
                state::INVALID_PARAMETER_VALUE,
                format!("invalid value for parameter \"{name}\": \"{value}\""),
            )
        };
        let mut modes = TransactionModes::default();
        match name {
            "transaction_isolation" => {
                modes.isolation = Some(Isolation::named(&value.to_ascii_lowercase()).ok_or_else(invalid)?);
            }
            "transaction_read_only" => modes.read_only = Some(boolean(&value).ok_or_else(invalid)?),
            _ => modes.deferrable = Some(boolean(&value).ok_or_else(invalid)?),
        }
        Ok(modes)
    }

    /// SET ROLE and SET SESSION AUTHORIZATION. `None` returns to the role that logged in. Errors: 22023, 42501.
    pub(super) async fn set_role(
        &mut self,
        (local, alone): (bool, bool),
        name: &str,
        value: Option<&[String]>,
    ) -> Result<()> {
        let catalog = self.block.statement(false).await?.catalog;
        self.warn_of_local(local && alone);
        let settings = self.shared.settings();
        let named = |name: &str| {
            catalog
                .role(name)
                .ok_or_else(|| SqlError::new(state::INVALID_PARAMETER_VALUE, format!("role \"{name}\" does not exist")))
        };
        let wanted = match value {
            None => None,
            Some([none]) if name == "role" && none == "none" => None,
            Some([wanted]) => Some(named(wanted)?),
            Some(_) => return Err(SqlError::syntax("syntax error in SET ROLE")),
        };
        let (role, session) = if name == "role" {
            let session = settings.session_user();
            let own = catalog.role(&session).map_or(self.shared.user_oid, |role| role.oid);
            if let Some(wanted) =
                wanted.as_ref().filter(|wanted| !catalog.is_superuser(own) && !catalog.is_member(own, wanted.oid))
            {
                let message = format!("permission denied to set role \"{}\"", wanted.name);
                return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
            }
            (wanted.map_or_else(|| "none".to_string(), |role| role.name.clone()), session)
        } else {
            let session = wanted.map_or_else(|| self.shared.user.clone(), |role| role.name.clone());
            if session != self.shared.user && !catalog.is_superuser(self.shared.user_oid) {
                let message = "permission denied to set session authorization";
                return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
            }
            ("none".to_string(), session)
        };
        let in_force = if role == "none" { &session } else { &role };
        let superuser = catalog.role(in_force).is_some_and(|role| role.superuser);
        self.shared.with_settings(|stack| {
            let values = [
                ("session_authorization", session.as_str()),
                ("role", role.as_str()),
                ("is_superuser", if superuser { "on" } else { "off" }),
            ];
            for (name, value) in values {
                if local {
                    stack.set_fixed_local(name, value)?;
                } else {
                    stack.set_fixed(name, value)?;
                }
            }
            Ok(())
        })
    }

    /// SET SESSION CHARACTERISTICS: the modes of later transactions.
    pub(super) fn set_characteristics(&mut self, modes: TransactionModes) -> Result<()> {
        self.block.ensure()?;
        let on_off = |on: bool| if on { "on" } else { "off" };
        self.shared.with_settings(|stack| {
            if let Some(isolation) = modes.isolation {
                stack.set("default_transaction_isolation", isolation.name(), false)?;
            }
            if let Some(read_only) = modes.read_only {
                stack.set("default_transaction_read_only", on_off(read_only), false)?;
            }
            if let Some(deferrable) = modes.deferrable {
                stack.set("default_transaction_deferrable", on_off(deferrable), false)?;
            }
            Ok(())
        })
    }

    pub(super) fn run_reset(&mut self, name: &str) -> Result<()> {
        self.block.ensure()?;
        self.shared.settings().may_set(name)?;
        self.shared.with_settings(|stack| stack.reset(name))
    }

    pub(super) async fn run_show(&mut self, name: &str) -> Result<Outcome> {
        self.block.ensure()?;
        if registry::is_private(name) && !self.sees_private_settings().await? {
            return Err(private(name));
        }
        let (title, value) =
            (registry::find(name).map_or(name, |definition| definition.name), self.shared.settings().get(name));
        let value = value.ok_or_else(|| unknown(name))?;
        text_rows(&[title], &[vec![value]], "SHOW")
    }

    /// Whether the current role may see private settings.
    async fn sees_private_settings(&mut self) -> Result<bool> {
        let catalog = self.block.statement(false).await?.catalog;
        Ok(catalog.role(self.shared.settings().user()).is_some_and(|role| sees_private(&catalog, role.oid)))
    }

    pub(super) async fn run_show_all(&mut self) -> Result<Outcome> {
        self.block.ensure()?;
        let private = self.sees_private_settings().await?;
        let rows: Vec<Vec<String>> = self
            .shared
            .settings()
            .all()
            .into_iter()
            .filter(|(definition, _)| private || !registry::is_private(definition.name))
            .map(|(definition, value)| vec![definition.name.to_string(), value, definition.description.to_string()])
            .collect();
        text_rows(&["name", "setting", "description"], &rows, "SHOW")
    }
}

/// Joins the values of a SET into one text. Errors: 42704, 22023.
pub fn flattened(name: &str, values: &[String]) -> Result<String> {
    match values {
        [single] if !is_list(name) => Ok(single.clone()),
        values if is_list(name) => {
            if name.eq_ignore_ascii_case("search_path") {
                Ok(values.iter().map(|part| quote(part)).collect::<Vec<_>>().join(", "))
            } else {
                Ok(values.join(", "))
            }
        }
        _ if registry::find(name).is_none() && !name.contains('.') => Err(unknown(name)),
        _ => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("SET {name} takes only one argument"))),
    }
}

/// Whether a setting's value is a list.
fn is_list(name: &str) -> bool {
    ["search_path", "datestyle", "temp_tablespaces"].iter().any(|list| list.eq_ignore_ascii_case(name))
}

/// Quotes an identifier for a list, if necessary.
fn quote(name: &str) -> String {
    let plain = name
        .chars()
        .enumerate()
        .all(|(at, c)| c == '_' || c.is_ascii_lowercase() || (at > 0 && (c.is_ascii_digit() || c == '$')));
    if plain && !name.is_empty() { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
