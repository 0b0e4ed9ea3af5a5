//! GRANT and REVOKE, ALTER DEFAULT PRIVILEGES, REASSIGN OWNED and DROP OWNED. Knows no roles.

use super::cursor::{Cursor, is_word};
use super::role_statement::{DefaultKind, DefaultPrivileges, Grant, GrantObjects};
use super::statement::StatementKind;
use sql_error::{Result, SqlError};
use sqlparser::tokenizer::Token;

/// Parses one of these statements. `None`, with nothing read, for any other.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if cursor.word("grant") {
        return grant(cursor, true).map(Some);
    }
    if cursor.word("revoke") {
        return grant(cursor, false).map(Some);
    }
    if cursor.words(&["alter", "default", "privileges"]) {
        return default_privileges(cursor).map(Some);
    }
    if cursor.words(&["reassign", "owned", "by"]) {
        let from = names(cursor)?;
        cursor.expect_word("to")?;
        let to = cursor.name()?;
        return Ok(Some(StatementKind::ReassignOwned { from, to }));
    }
    if cursor.words(&["drop", "owned", "by"]) {
        let of = names(cursor)?;
        let cascade = cursor.word("cascade");
        if !cascade {
            cursor.word("restrict");
        }
        return Ok(Some(StatementKind::DropOwned { of, cascade }));
    }
    if cursor.words(&["alter", "group"])
        && let Ok(group) = cursor.name()
        && let Some(grants) = [("add", true), ("drop", false)].into_iter().find(|(word, _)| cursor.word(word))
        && cursor.word("user")
    {
        let roles = names(cursor)?;
        cursor.end()?;
        return Ok(Some(StatementKind::Grant(Box::new(Grant {
            grants: grants.1,
            privileges: vec![(group, Vec::new())],
            all: None,
            objects: None,
            roles,
            option: false,
            option_only: false,
            cascade: false,
            by: None,
            of_group: true,
        }))));
    }
    cursor.back_to(mark);
    Ok(None)
}

/// ALTER DEFAULT PRIVILEGES, after these words.
fn default_privileges(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let (mut roles, mut schemas) = (Vec::new(), Vec::new());
    loop {
        if cursor.words(&["for", "role"]) || cursor.words(&["for", "user"]) {
            roles = names(cursor)?;
        } else if cursor.words(&["in", "schema"]) {
            schemas = names(cursor)?;
        } else {
            break;
        }
    }
    let grants = cursor.word("grant");
    if !grants {
        cursor.expect_word("revoke")?;
    }
    let error = cursor.error();
    let StatementKind::Grant(grant) = grant(cursor, grants)? else { return Err(error) };
    // The word after ON was read as the name of a table.
    let kind = match &grant.objects {
        Some(GrantObjects::Tables(objects)) => match objects.as_slice() {
            [object] => object.to_string().to_ascii_lowercase(),
            _ => return Err(error),
        },
        _ => return Err(error),
    };
    let kind = match kind.as_str() {
        "tables" => DefaultKind::Tables,
        "sequences" => DefaultKind::Sequences,
        "schemas" => DefaultKind::Schemas,
        "types" => DefaultKind::Types,
        "functions" | "routines" => DefaultKind::Functions,
        _ => return Err(error),
    };
    Ok(StatementKind::DefaultPrivileges(Box::new(DefaultPrivileges { roles, schemas, kind, grant: *grant })))
}

fn names(cursor: &mut Cursor<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    loop {
        cursor.word("group");
        names.push(cursor.name()?);
        if !cursor.sign(&Token::Comma) {
            return Ok(names);
        }
    }
}

fn grant(cursor: &mut Cursor<'_>, grants: bool) -> Result<StatementKind> {
    let option_only =
        !grants && (cursor.words(&["grant", "option", "for"]) || cursor.words(&["admin", "option", "for"]));
    // Either privileges, each with columns, or roles.
    let mut privileges: Vec<(String, Vec<String>)> = Vec::new();
    let mut all = None;
    if cursor.word("all") {
        cursor.word("privileges");
        all = Some(cursor.names_in_brackets()?);
    } else {
        loop {
            let name = cursor.name()?;
            let columns = cursor.names_in_brackets()?;
            privileges.push((name, columns));
            if !cursor.sign(&Token::Comma) {
                break;
            }
        }
    }
    let objects = if cursor.word("on") { Some(objects(cursor)?) } else { None };
    cursor.expect_word(if grants { "to" } else { "from" })?;
    let roles = names(cursor)?;
    let (mut option, mut cascade, mut by) = (false, false, None);
    while cursor.peek().is_some() {
        if grants && (cursor.words(&["with", "grant", "option"]) || cursor.words(&["with", "admin", "option"])) {
            option = true;
        } else if cursor.words(&["granted", "by"]) {
            by = Some(cursor.name()?);
        } else if !grants && cursor.word("cascade") {
            cascade = true;
        } else if grants || !cursor.word("restrict") {
            return Err(cursor.error());
        }
    }
    if objects.is_none() && (all.is_some() || privileges.iter().any(|(_, columns)| !columns.is_empty())) {
        return Err(cursor.error());
    }
    Ok(StatementKind::Grant(Box::new(Grant {
        grants,
        privileges,
        all,
        objects,
        roles,
        option,
        option_only,
        cascade,
        by,
        of_group: false,
    })))
}

fn objects(cursor: &mut Cursor<'_>) -> Result<GrantObjects> {
    for (plural, sequences) in [("tables", false), ("sequences", true)] {
        if cursor.words(&["all", plural, "in", "schema"]) {
            return Ok(GrantObjects::AllIn { sequences, schemas: names(cursor)? });
        }
    }
    if ["functions", "procedures", "routines"].iter().any(|plural| cursor.words(&["all", plural, "in", "schema"])) {
        return Ok(GrantObjects::FunctionsIn(names(cursor)?));
    }
    for words in
        [&["foreign"][..], &["function"], &["procedure"], &["routine"], &["language"], &["parameter"], &["tablespace"]]
    {
        if cursor.words(words) {
            return Err(SqlError::unsupported(format!("GRANT on {}", words.join(" ").to_uppercase())));
        }
    }
    if cursor.words(&["large", "object"]) {
        let mut oids = vec![super::utility::large_object(cursor)?];
        while cursor.sign(&Token::Comma) {
            oids.push(super::utility::large_object(cursor)?);
        }
        return Ok(GrantObjects::LargeObjects(oids));
    }
    if cursor.word("schema") {
        return Ok(GrantObjects::Schemas(names(cursor)?));
    }
    if cursor.word("database") {
        return Ok(GrantObjects::Databases(names(cursor)?));
    }
    for (word, domains) in [("type", false), ("domain", true)] {
        // A table may have this word as its name.
        let alone = cursor.rest().get(1).is_none_or(|next| is_word(next, "to") || is_word(next, "from"));
        if !alone && cursor.word(word) {
            return Ok(GrantObjects::Types { domains, names: object_names(cursor)? });
        }
    }
    let sequences = cursor.word("sequence");
    if !sequences {
        cursor.word("table");
    }
    let objects = object_names(cursor)?;
    Ok(if sequences { GrantObjects::Sequences(objects) } else { GrantObjects::Tables(objects) })
}

fn object_names(cursor: &mut Cursor<'_>) -> Result<Vec<sqlparser::ast::ObjectName>> {
    let mut names = vec![cursor.object_name()?];
    while cursor.sign(&Token::Comma) {
        names.push(cursor.object_name()?);
    }
    Ok(names)
}
