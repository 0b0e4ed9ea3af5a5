//! Writes statements of any kind.

use super::writer::{Print, Writer};
use crate::tree::{CallStatement, Ident, Statement};

impl Print for Statement {
    fn print(&self, out: &mut Writer) {
        out.deeper(|out| statement(self, out));
    }
}

fn statement(statement: &Statement, out: &mut Writer) {
    match statement {
        Statement::Query(node) => node.print(out),
        Statement::Insert(node) => node.print(out),
        Statement::Update(node) => node.print(out),
        Statement::Delete(node) => node.print(out),
        Statement::Merge(node) => node.print(out),
        Statement::Copy(node) => node.print(out),
        Statement::Truncate(node) => node.print(out),
        Statement::CreateTable(node) => node.print(out),
        Statement::CreateTableAs(node) => node.print(out),
        Statement::CreateView(node) => node.print(out),
        Statement::CreateIndex(node) => node.print(out),
        Statement::CreateSequence(node) => node.print(out),
        Statement::CreateSchema(node) => node.print(out),
        Statement::AlterTable(node) => node.print(out),
        Statement::Refresh(node) => node.print(out),
        Statement::CreateType(node) => node.print(out),
        Statement::AlterType(node) => node.print(out),
        Statement::CreateDomain(node) => node.print(out),
        Statement::AlterDomain(node) => node.print(out),
        Statement::CreateFunction(node) => node.print(out),
        Statement::AlterFunction(node) => node.print(out),
        Statement::Call(node) => node.print(out),
        Statement::Do(node) => node.print(out),
        Statement::CreateTrigger(node) => node.print(out),
        Statement::CreateEventTrigger(node) => node.print(out),
        Statement::CreatePolicy(node) => node.print(out),
        Statement::AlterPolicy(node) => node.print(out),
        Statement::CreateRule(node) => node.print(out),
        Statement::Define(node) => node.print(out),
        Statement::CreateCast(node) => node.print(out),
        Statement::CreateOperatorClass(node) => node.print(out),
        Statement::CreateOperatorFamily(name, method) => {
            out.word("CREATE OPERATOR FAMILY").node(name).word("USING").node(method);
        }
        Statement::CreateStatistics(node) => node.print(out),
        Statement::CreateExtension(node) => node.print(out),
        Statement::Publication(node) => node.print(out),
        Statement::Subscription(node) => node.print(out),
        Statement::Drop(node) => node.print(out),
        Statement::Comment(node) => node.print(out),
        Statement::AlterObject(node) => node.print(out),
        Statement::Grant(node) => node.print(out),
        Statement::GrantRole(node) => node.print(out),
        Statement::DefaultPrivileges(node) => node.print(out),
        Statement::Role(node) => node.print(out),
        Statement::DropRole(node) => node.print(out),
        Statement::Owned(node) => node.print(out),
        Statement::AlterSetting(node) => node.print(out),
        Statement::Database(node) => node.print(out),
        Statement::Transaction(node) => node.print(out),
        Statement::SetConstraints(node) => node.print(out),
        Statement::Setting(node) => node.print(out),
        Statement::Prepare(node) => node.print(out),
        Statement::Execute(node) => node.print(out),
        Statement::Deallocate(name) => name_or(name, "DEALLOCATE", "ALL", out),
        Statement::DeclareCursor(node) => node.print(out),
        Statement::Fetch(node) => node.print(out),
        Statement::Close(name) => name_or(name, "CLOSE", "ALL", out),
        Statement::Listen(channel) => {
            out.word("LISTEN").node(channel);
        }
        Statement::Unlisten(channel) => name_or(channel, "UNLISTEN", "*", out),
        Statement::Notify(node) => node.print(out),
        Statement::LockTable(node) => node.print(out),
        Statement::Discard(node) => node.print(out),
        Statement::Explain(node) => node.print(out),
        Statement::Vacuum(node) => node.print(out),
        Statement::Cluster(node) => node.print(out),
        Statement::Reindex(node) => node.print(out),
        Statement::Checkpoint => {
            out.word("CHECKPOINT");
        }
        Statement::Load(file) => {
            out.word("LOAD").string(file);
        }
        Statement::Check(node) => node.print(out),
    }
}

fn name_or(name: &Option<Ident>, word: &str, all: &str, out: &mut Writer) {
    out.word(word);
    match name {
        Some(name) => out.node(name),
        None => out.word(all),
    };
}

impl Print for CallStatement {
    fn print(&self, out: &mut Writer) {
        out.word("CALL").node(&self.call);
    }
}
