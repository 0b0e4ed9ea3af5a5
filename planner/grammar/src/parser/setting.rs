//! Settings: SET, RESET, SHOW, and those of roles, databases and functions.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{
    AlterSetting, IntervalFields, OptionValue, SettingChange, SettingOwner, SettingStatement, SettingValue, Statement,
    TransactionStatement,
};

impl Parser<'_> {
    /// SET, behind that word. Errors: 42601.
    pub(crate) fn set(&mut self) -> Result<Statement> {
        if self.is_assignment() {
            return self.set_variable(false);
        }
        if self.word("constraints") {
            return self.set_constraints();
        }
        let scope = self.one_word_of(&["local", "session"]);
        if scope == Some(1) && (self.is_word("authorization") || self.is_word("characteristics")) {
            // SESSION was no scope, but a part of the name.
            if !self.is_assignment() {
                self.back_to(self.mark() - 1);
            }
        }
        if !self.is_assignment() {
            if self.word("transaction") {
                return Ok(Statement::Transaction(match self.word("snapshot") {
                    true => TransactionStatement::Snapshot(self.expect_string()?),
                    false => TransactionStatement::Set(self.transaction_modes()?),
                }));
            }
            if self.words(&["session", "characteristics"]) {
                self.expect_words(&["as", "transaction"])?;
                return Ok(Statement::Transaction(TransactionStatement::SetSession(self.transaction_modes()?)));
            }
        }
        self.set_variable(scope == Some(0))
    }

    fn set_variable(&mut self, local: bool) -> Result<Statement> {
        Ok(Statement::Setting(match self.setting_assignment()? {
            SettingChange::Set(name, values) => SettingStatement::Set { local, name, values },
            SettingChange::FromCurrent(name) => SettingStatement::FromCurrent(name),
            SettingChange::Reset(name) => SettingStatement::Reset(name),
            SettingChange::ResetAll => SettingStatement::ResetAll,
        }))
    }

    /// RESET, behind that word. Errors: 42601.
    pub(crate) fn reset(&mut self) -> Result<Statement> {
        Ok(Statement::Setting(match self.reset_change()? {
            SettingChange::Reset(name) => SettingStatement::Reset(name),
            _ => SettingStatement::ResetAll,
        }))
    }

    /// SHOW, behind that word. Errors: 42601.
    pub(crate) fn show(&mut self) -> Result<Statement> {
        Ok(Statement::Setting(match self.word("all") {
            true => SettingStatement::ShowAll,
            false => SettingStatement::Show(self.variable()?),
        }))
    }

    /// SET or RESET of a role, database or function. `None`, with nothing read, for anything else. Errors: 42601.
    pub(crate) fn setting_change(&mut self) -> Result<Option<SettingChange>> {
        if self.word("reset") {
            return self.reset_change().map(Some);
        }
        if self.word("set") { self.stored_assignment().map(Some) } else { Ok(None) }
    }

    /// The text behind SET in ALTER ROLE. A transaction has no stored modes: PostgreSQL then stores nothing.
    fn stored_assignment(&mut self) -> Result<SettingChange> {
        if !self.is_assignment() {
            let mark = self.mark();
            if self.word("transaction") {
                if self.word("snapshot") {
                    self.expect_string()?;
                } else {
                    self.transaction_modes()?;
                }
                return Ok(SettingChange::Set("transaction".into(), None));
            }
            if self.words(&["session", "characteristics"]) {
                self.expect_words(&["as", "transaction"])?;
                self.transaction_modes()?;
                return Ok(SettingChange::Set("transaction".into(), None));
            }
            self.back_to(mark);
        }
        self.setting_assignment()
    }

    /// ALTER SYSTEM, behind these words. Errors: 42601.
    pub(crate) fn alter_system(&mut self, start: usize) -> Result<Statement> {
        let change = if self.word("reset") {
            match self.word("all") {
                true => SettingChange::ResetAll,
                false => SettingChange::Reset(self.variable_name()?),
            }
        } else {
            self.expect_word("set")?;
            let name = self.variable_name()?;
            self.values_of(name)?
        };
        let span = self.span_since(start);
        Ok(Statement::AlterSetting(Box::new(AlterSetting { of: SettingOwner::System, change, span })))
    }

    fn reset_change(&mut self) -> Result<SettingChange> {
        if self.word("all") { Ok(SettingChange::ResetAll) } else { Ok(SettingChange::Reset(self.variable()?)) }
    }

    /// Whether the next tokens are a setting's name and what comes behind it. Then no word of it has a grammar.
    fn is_assignment(&self) -> bool {
        let behind = self.is_sign_at(1, '.') || self.is_operator_at(1, "=");
        self.is_column_name_at(0) && (behind || self.is_word_at(1, "to") || self.is_word_at(1, "from"))
    }

    /// The text behind SET and its scope (set_rest_more). Errors: 42601, and 0A000 for CATALOG.
    pub(crate) fn setting_assignment(&mut self) -> Result<SettingChange> {
        if self.is_assignment() {
            let name = self.variable_name()?;
            if self.word("from") {
                self.expect_word("current")?;
                return Ok(SettingChange::FromCurrent(name));
            }
            return self.values_of(name);
        }
        let text = |name: &str, text: String| SettingChange::Set(name.into(), Some(vec![SettingValue::Text(text)]));
        if self.word("time") {
            self.expect_word("zone")?;
            return Ok(SettingChange::Set("timezone".into(), self.zone()?.map(|zone| vec![zone])));
        }
        if self.word("catalog") {
            let place = self.here();
            self.expect_string()?;
            return Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, "current database cannot be changed").at(place));
        }
        if self.word("schema") {
            return Ok(text("search_path", self.expect_string()?));
        }
        if self.word("names") {
            return Ok(match self.string() {
                Some(name) => text("client_encoding", name),
                None => {
                    self.word("default");
                    SettingChange::Set("client_encoding".into(), None)
                }
            });
        }
        if self.word("role") {
            return Ok(text("role", self.word_or_string()?.value));
        }
        if self.word("session") {
            self.expect_word("authorization")?;
            return Ok(match self.word("default") {
                true => SettingChange::Set("session_authorization".into(), None),
                false => text("session_authorization", self.word_or_string()?.value),
            });
        }
        if self.word("xml") {
            self.expect_word("option")?;
            let form = self.one_word_of(&["document", "content"]).ok_or_else(|| self.error())?;
            return Ok(text("xmloption", if form == 0 { "document".into() } else { "content".into() }));
        }
        self.variable_name()?;
        Err(self.error())
    }

    /// `= values` or TO values, or DEFAULT, behind a name.
    fn values_of(&mut self, name: String) -> Result<SettingChange> {
        if !self.operator("=") {
            self.expect_word("to")?;
        }
        if self.word("default") {
            return Ok(SettingChange::Set(name, None));
        }
        Ok(SettingChange::Set(name, Some(self.list(Parser::setting_value)?)))
    }

    fn setting_value(&mut self) -> Result<SettingValue> {
        Ok(match self.number_or_word()? {
            OptionValue::Number(number) => SettingValue::Number(number),
            OptionValue::Word(text) | OptionValue::String(text) => SettingValue::Text(text),
            _ => return Err(self.error()),
        })
    }

    /// The name of a setting, in lower case (var_name).
    fn variable_name(&mut self) -> Result<String> {
        let mut name = self.column_name()?.value;
        while self.sign('.') {
            name = format!("{name}.{}", self.column_name()?.value);
        }
        Ok(name.to_ascii_lowercase())
    }

    /// The name of a setting in SHOW and RESET.
    fn variable(&mut self) -> Result<String> {
        if self.words(&["time", "zone"]) {
            return Ok("timezone".into());
        }
        if self.words(&["session", "authorization"]) {
            return Ok("session_authorization".into());
        }
        if self.words(&["transaction", "isolation"]) {
            self.expect_word("level")?;
            return Ok("transaction_isolation".into());
        }
        self.variable_name()
    }

    /// The value of SET TIME ZONE (zone_value). `None` for DEFAULT and LOCAL.
    fn zone(&mut self) -> Result<Option<SettingValue>> {
        if self.one_word_of(&["default", "local"]).is_some() {
            return Ok(None);
        }
        if self.is_signed_number() {
            return Ok(Some(SettingValue::Number(self.signed_number()?.0)));
        }
        if let Some(text) = self.string() {
            return Ok(Some(SettingValue::Text(text)));
        }
        if self.word("interval") {
            if self.sign('(') {
                self.unsigned_integer()?;
                self.expect_sign(')')?;
                return Ok(Some(SettingValue::Interval(self.expect_string()?, None)));
            }
            let text = self.expect_string()?;
            return Ok(Some(SettingValue::Interval(text, self.zone_fields()?)));
        }
        match &self.peek().kind {
            TokenKind::Name { keyword: None, .. } => Ok(Some(SettingValue::Text(self.take_ident()?.value))),
            _ => Err(self.error()),
        }
    }

    /// The fields behind INTERVAL 'x' in SET TIME ZONE. Errors: 42601, also for fields that are no part of a zone.
    fn zone_fields(&mut self) -> Result<Option<IntervalFields>> {
        let place = self.here();
        let refuse = || Err(SyntaxError::syntax("time zone interval must be HOUR or HOUR TO MINUTE").at(place));
        if self.word("hour") {
            if !self.word("to") {
                return Ok(Some(IntervalFields::Hour));
            }
            if self.word("minute") {
                return Ok(Some(IntervalFields::HourToMinute));
            }
            self.expect_word("second")?;
            return refuse();
        }
        if self.word("minute") {
            if !self.word("to") {
                return Ok(Some(IntervalFields::Minute));
            }
            self.expect_word("second")?;
            return refuse();
        }
        match self.one_word_of(&["year", "month", "day", "second"]) {
            Some(_) => refuse(),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/setting.sql"));
    }

    use crate::tree::{IntervalFields, SettingStatement, SettingValue, Statement};

    fn set(local: bool, name: &str, values: Option<Vec<SettingValue>>) -> Statement {
        Statement::Setting(SettingStatement::Set { local, name: name.into(), values })
    }

    #[test]
    fn gives_each_form_its_setting() {
        let text = |text: &str| SettingValue::Text(text.into());
        let number = |number: &str| SettingValue::Number(number.into());
        let zone = SettingValue::Interval("-8".into(), Some(IntervalFields::HourToMinute));
        let cases = [
            ("SET LOCAL A.B = C, \"D\", 'E', - 1.5, +2, on", {
                let values = vec![text("c"), text("D"), text("E"), number("-1.5"), number("2"), text("on")];
                set(true, "a.b", Some(values))
            }),
            ("SET x TO DEFAULT", set(false, "x", None)),
            ("SET TIME ZONE UTC", set(false, "timezone", Some(vec![text("utc")]))),
            ("SET SESSION TIME ZONE LOCAL", set(false, "timezone", None)),
            ("SET TIME ZONE INTERVAL '-8' HOUR TO MINUTE", set(false, "timezone", Some(vec![zone]))),
            ("SET NAMES", set(false, "client_encoding", None)),
            ("SET ROLE NONE", set(false, "role", Some(vec![text("none")]))),
            ("SET SESSION AUTHORIZATION x", set(false, "session_authorization", Some(vec![text("x")]))),
            ("SET LOCAL SESSION AUTHORIZATION DEFAULT", set(true, "session_authorization", None)),
            ("SET SCHEMA 's'", set(false, "search_path", Some(vec![text("s")]))),
            ("SET XML OPTION DOCUMENT", set(false, "xmloption", Some(vec![text("document")]))),
            ("SHOW TRANSACTION ISOLATION LEVEL", {
                Statement::Setting(SettingStatement::Show("transaction_isolation".into()))
            }),
            ("RESET SESSION AUTHORIZATION", {
                Statement::Setting(SettingStatement::Reset("session_authorization".into()))
            }),
        ];
        for (text, expected) in cases {
            assert_eq!(super::super::cases::only(text), expected, "{text}");
        }
    }
}
