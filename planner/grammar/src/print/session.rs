//! Writes statements about the session: transactions, settings, cursors and notifications.

use super::role::{setting_name, setting_values};
use super::writer::{Print, Writer};
use crate::tree::{
    DeclareCursor, Discard, Execute, Fetch, FetchDirection, IsolationLevel, Notify, Prepare, SetConstraints,
    SettingStatement, TransactionModes, TransactionStatement,
};

impl Print for TransactionModes {
    fn print(&self, out: &mut Writer) {
        match self.isolation {
            Some(IsolationLevel::ReadUncommitted) => out.word("ISOLATION LEVEL READ UNCOMMITTED"),
            Some(IsolationLevel::ReadCommitted) => out.word("ISOLATION LEVEL READ COMMITTED"),
            Some(IsolationLevel::RepeatableRead) => out.word("ISOLATION LEVEL REPEATABLE READ"),
            Some(IsolationLevel::Serializable) => out.word("ISOLATION LEVEL SERIALIZABLE"),
            None => out,
        };
        out.choice(self.read_only, "READ ONLY", "READ WRITE");
        out.choice(self.deferrable, "DEFERRABLE", "NOT DEFERRABLE");
    }
}

impl Print for TransactionStatement {
    fn print(&self, out: &mut Writer) {
        match self {
            TransactionStatement::Begin(begin, modes) => out.either(*begin, "BEGIN", "START TRANSACTION").node(modes),
            TransactionStatement::Commit(chain) => out.word("COMMIT").word_if(*chain, "AND CHAIN"),
            TransactionStatement::Rollback(chain) => out.word("ROLLBACK").word_if(*chain, "AND CHAIN"),
            TransactionStatement::Savepoint(name) => out.word("SAVEPOINT").node(name),
            TransactionStatement::Release(name) => out.word("RELEASE SAVEPOINT").node(name),
            TransactionStatement::RollbackTo(name) => out.word("ROLLBACK TO SAVEPOINT").node(name),
            TransactionStatement::Prepare(name) => out.word("PREPARE TRANSACTION").string(name),
            TransactionStatement::CommitPrepared(name) => out.word("COMMIT PREPARED").string(name),
            TransactionStatement::RollbackPrepared(name) => out.word("ROLLBACK PREPARED").string(name),
            TransactionStatement::Set(modes) => out.word("SET TRANSACTION").node(modes),
            TransactionStatement::SetSession(modes) => {
                out.word("SET SESSION CHARACTERISTICS AS TRANSACTION").node(modes)
            }
            TransactionStatement::Snapshot(name) => out.word("SET TRANSACTION SNAPSHOT").string(name),
        };
    }
}

impl Print for SetConstraints {
    fn print(&self, out: &mut Writer) {
        out.word("SET CONSTRAINTS");
        match &self.names {
            Some(names) => out.list(names),
            None => out.word("ALL"),
        };
        out.either(self.deferred, "DEFERRED", "IMMEDIATE");
    }
}

impl Print for SettingStatement {
    fn print(&self, out: &mut Writer) {
        match self {
            SettingStatement::Set { local, name, values } => {
                setting_values(name, values, out.word("SET").word_if(*local, "LOCAL"));
            }
            SettingStatement::FromCurrent(name) => {
                setting_name(name, out.word("SET"));
                out.word("FROM CURRENT");
            }
            SettingStatement::Reset(name) => setting_name(name, out.word("RESET")),
            SettingStatement::ResetAll => {
                out.word("RESET ALL");
            }
            SettingStatement::Show(name) => setting_name(name, out.word("SHOW")),
            SettingStatement::ShowAll => {
                out.word("SHOW ALL");
            }
        }
    }
}

impl Print for Prepare {
    fn print(&self, out: &mut Writer) {
        out.word("PREPARE").node(&self.name).enclosed_if_any(&self.types).word("AS").node(&self.statement);
    }
}

impl Print for Execute {
    fn print(&self, out: &mut Writer) {
        out.word("EXECUTE").node(&self.name).enclosed_if_any(&self.parameters);
    }
}

impl Print for DeclareCursor {
    fn print(&self, out: &mut Writer) {
        out.word("DECLARE").node(&self.name).word_if(self.binary, "BINARY");
        out.choice(self.scroll, "SCROLL", "NO SCROLL").choice(self.insensitive, "INSENSITIVE", "ASENSITIVE");
        out.word("CURSOR").word_if(self.hold, "WITH HOLD").word("FOR").node(&self.query);
    }
}

impl Print for Fetch {
    fn print(&self, out: &mut Writer) {
        out.either(self.only_move, "MOVE", "FETCH");
        match self.direction {
            FetchDirection::Forward(Some(count)) => out.word("FORWARD").word(&count.to_string()),
            FetchDirection::Forward(None) => out.word("FORWARD ALL"),
            FetchDirection::Backward(Some(count)) => out.word("BACKWARD").word(&count.to_string()),
            FetchDirection::Backward(None) => out.word("BACKWARD ALL"),
            FetchDirection::Relative(count) => out.word("RELATIVE").word(&count.to_string()),
            FetchDirection::Absolute(count) => out.word("ABSOLUTE").word(&count.to_string()),
        };
        out.word("FROM").node(&self.cursor);
    }
}

impl Print for Notify {
    fn print(&self, out: &mut Writer) {
        out.word("NOTIFY").node(&self.channel);
        if let Some(payload) = &self.payload {
            out.sign(",").string(payload);
        }
    }
}

impl Print for Discard {
    fn print(&self, out: &mut Writer) {
        out.word(match self {
            Discard::All => "DISCARD ALL",
            Discard::Plans => "DISCARD PLANS",
            Discard::Sequences => "DISCARD SEQUENCES",
            Discard::Temporary => "DISCARD TEMPORARY",
        });
    }
}
