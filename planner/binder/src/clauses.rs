//! Rejects syntax that the binder does not implement: clauses of other dialects that sqlparser can represent. Every
//! node is destructured field by field. So a field that sqlparser adds does not compile until somebody handles it.

use sql_error::{Result, SqlError};
use sqlparser::ast::{self, Spanned, TableFactor};
use sqlparser::tokenizer::Span;

fn refused(list: &[(bool, &str)]) -> Result<()> {
    match list.iter().find(|(present, _)| *present) {
        Some((_, what)) => Err(SqlError::unsupported(*what)),
        None => Ok(()),
    }
}

/// Checks a query's clauses around its body.
pub fn check_query(query: &ast::Query) -> Result<()> {
    let ast::Query {
        with,
        body: _,
        order_by,
        limit_clause: _,
        fetch,
        locks: _,
        for_clause,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    if let Some(ast::OrderBy { kind: _, interpolate }) = order_by {
        refused(&[(interpolate.is_some(), "INTERPOLATE")])?;
    }
    if let Some(ast::Fetch { with_ties: _, percent, quantity: _ }) = fetch {
        refused(&[(*percent, "FETCH … PERCENT")])?;
    }
    if let Some(ast::With { with_token: _, recursive: _, cte_tables }) = with {
        for table in cte_tables {
            // MATERIALIZED is handled elsewhere; closing_paren_token is a position.
            let ast::Cte { alias, query: _, from, materialized: _, closing_paren_token: _ } = table;
            check_alias(Some(alias))?;
            refused(&[(from.is_some(), "WITH … FROM")])?;
        }
    }
    refused(&[
        (for_clause.is_some(), "FOR XML and FOR JSON"),
        (settings.is_some(), "SETTINGS"),
        (format_clause.is_some(), "FORMAT"),
        (!pipe_operators.is_empty(), "pipe syntax"),
    ])
}

/// Checks that a clause does not occur both in a parenthesized query and behind it, since both are one query. Errors:
/// 42601, and its position.
pub fn check_brackets(query: &ast::Query) -> std::result::Result<(), (SqlError, Span)> {
    let ast::SetExpr::Query(inner) = query.body.as_ref() else { return Ok(()) };
    let again =
        |what: &str, place: Span| Err((SqlError::syntax(format!("multiple {what} clauses not allowed")), place));
    let counts = |query: &ast::Query| {
        let (mut limit, mut offset) = (None, None);
        if let Some(ast::LimitClause::LimitOffset { limit: count, offset: skip, limit_by: _ }) = &query.limit_clause {
            limit = count.as_ref().map(Spanned::span);
            offset = skip.as_ref().map(|skip| skip.value.span());
        }
        if let Some(fetch) = &query.fetch {
            limit = Some(fetch.quantity.as_ref().map_or_else(Span::empty, Spanned::span));
        }
        (limit, offset)
    };
    // Nested parentheses without clauses behind the inner ones equal the inner ones.
    let mut inner = inner;
    while let ast::SetExpr::Query(next) = inner.body.as_ref()
        && inner.order_by.is_none()
        && counts(inner) == (None, None)
        && inner.with.is_none()
    {
        inner = next;
    }
    if let (Some(order), Some(_)) = (&query.order_by, &inner.order_by) {
        return again("ORDER BY", order.span());
    }
    let ((limit, offset), (inner_limit, inner_offset)) = (counts(query), counts(inner));
    if let (Some(place), Some(_)) = (offset, inner_offset) {
        return again("OFFSET", place);
    }
    if let (Some(place), Some(_)) = (limit, inner_limit) {
        return again("LIMIT", place);
    }
    if let (Some(with), Some(_)) = (&query.with, &inner.with) {
        return again("WITH", with.with_token.0.span);
    }
    Ok(())
}

/// Checks a SELECT's clauses.
pub fn check_select(select: &ast::Select) -> Result<()> {
    let ast::Select {
        select_token: _,
        optimizer_hints: _,
        distinct: _,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection: _,
        exclude,
        into,
        from: _,
        lateral_views,
        prewhere,
        selection: _,
        connect_by,
        group_by: _,
        cluster_by,
        distribute_by,
        sort_by,
        having: _,
        named_window: _,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor,
    } = select;
    if let Some(into) = into {
        let target = into.targets.first().map_or_else(Span::empty, Spanned::span);
        return Err(SqlError::syntax(syntax::INTO_NOT_HERE).about_part(target));
    }
    refused(&[
        (top.is_some(), "TOP"),
        (!lateral_views.is_empty(), "LATERAL VIEW"),
        (prewhere.is_some(), "PREWHERE"),
        (!connect_by.is_empty(), "CONNECT BY"),
        (!cluster_by.is_empty(), "CLUSTER BY"),
        (!distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!sort_by.is_empty(), "SORT BY"),
        (qualify.is_some(), "QUALIFY"),
        (value_table_mode.is_some(), "AS VALUE"),
        (exclude.is_some(), "EXCLUDE"),
        (select_modifiers.is_some(), "a SELECT modifier"),
        (!matches!(flavor, ast::SelectFlavor::Standard), "FROM before SELECT"),
    ])
}

/// Checks the options of `*`: PostgreSQL has none of them.
pub fn check_star(options: &ast::WildcardAdditionalOptions) -> Result<()> {
    let ast::WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike,
        opt_exclude,
        opt_except,
        opt_replace,
        opt_rename,
        opt_alias,
    } = options;
    let plain = opt_ilike.is_none()
        && opt_exclude.is_none()
        && opt_except.is_none()
        && opt_replace.is_none()
        && opt_rename.is_none()
        && opt_alias.is_none();
    if plain { Ok(()) } else { Err(SqlError::syntax("syntax error after \"*\"")) }
}

/// Checks the syntax of VALUES.
pub fn check_values(values: &ast::Values) -> Result<()> {
    let ast::Values { explicit_row, value_keyword, rows: _ } = values;
    refused(&[(*explicit_row, "VALUES ROW"), (*value_keyword, "VALUE")])
}

/// Checks an alias: only `AS` itself may be ignored.
pub fn check_alias(alias: Option<&ast::TableAlias>) -> Result<()> {
    let Some(ast::TableAlias { explicit: _, name, columns: _, at }) = alias else { return Ok(()) };
    syntax::fold_plain(name)?;
    refused(&[(at.is_some(), "an alias with AT")])
}

/// Checks the clauses of INSERT.
pub fn check_insert(insert: &ast::Insert) -> Result<()> {
    let ast::Insert {
        insert_token: _,
        optimizer_hints: _,
        or,
        ignore,
        into: _,
        table: _,
        table_alias: _,
        columns: _,
        overwrite,
        source: _,
        assignments,
        partitioned,
        after_columns,
        has_table_keyword,
        on: _,
        returning: _,
        output,
        replace_into,
        priority,
        insert_alias,
        settings,
        format_clause,
        multi_table_insert_type,
        multi_table_into_clauses,
        multi_table_when_clauses,
        multi_table_else_clause,
    } = insert;
    let several = multi_table_insert_type.is_some()
        || !multi_table_into_clauses.is_empty()
        || !multi_table_when_clauses.is_empty()
        || multi_table_else_clause.is_some();
    refused(&[
        (or.is_some(), "INSERT OR"),
        (*ignore, "INSERT IGNORE"),
        (*overwrite, "INSERT OVERWRITE"),
        (*replace_into, "REPLACE"),
        (partitioned.is_some() || !after_columns.is_empty(), "INSERT … PARTITION"),
        (!assignments.is_empty(), "INSERT … SET"),
        (*has_table_keyword, "INSERT INTO TABLE"),
        (output.is_some(), "OUTPUT"),
        (priority.is_some() || insert_alias.is_some(), "this form of INSERT"),
        (settings.is_some() || format_clause.is_some(), "this form of INSERT"),
        (several, "INSERT into several tables"),
    ])
}

/// Checks the clauses of UPDATE.
pub fn check_update(update: &ast::Update) -> Result<()> {
    let ast::Update {
        update_token: _,
        optimizer_hints: _,
        table: _,
        assignments: _,
        from: _,
        selection: _,
        returning: _,
        output,
        or,
        order_by,
        limit,
    } = update;
    refused(&[(or.is_some(), "UPDATE OR"), (output.is_some(), "OUTPUT")])?;
    no_end(!order_by.is_empty(), limit.is_some())
}

/// Rejects ORDER BY and LIMIT behind a writing statement. Errors: 42601.
fn no_end(ordered: bool, limited: bool) -> Result<()> {
    let near = |words: &'static [&'static str]| {
        let word = words.first().copied().unwrap_or_default();
        let error = SqlError::syntax(format!("syntax error at or near \"{word}\""));
        Err(error.about_words(words, Span::empty(), 0))
    };
    match (ordered, limited) {
        (true, _) => near(&["order", "by"]),
        (_, true) => near(&["limit"]),
        _ => Ok(()),
    }
}

/// Checks the clauses of DELETE.
pub fn check_delete(delete: &ast::Delete) -> Result<()> {
    let ast::Delete {
        delete_token: _,
        optimizer_hints: _,
        tables,
        from: _,
        using: _,
        selection: _,
        returning: _,
        output,
        order_by,
        limit,
    } = delete;
    refused(&[(!tables.is_empty(), "DELETE from several tables"), (output.is_some(), "OUTPUT")])?;
    no_end(!order_by.is_empty(), limit.is_some())
}

/// Checks the clauses of MERGE.
pub fn check_merge(merge: &ast::Merge) -> Result<()> {
    let ast::Merge { merge_token: _, optimizer_hints: _, into, table: _, source: _, on: _, clauses, output } = merge;
    if !into {
        return Err(SqlError::syntax("syntax error: MERGE needs INTO"));
    }
    if output.is_some() {
        let error = SqlError::syntax("syntax error at or near \"returning\"");
        return Err(error.about("returning"));
    }
    if clauses.is_empty() {
        return Err(SqlError::syntax("syntax error at end of input"));
    }
    Ok(())
}

/// The table that UPDATE or DELETE writes, and its alias. Errors: 0A000 for further clauses.
pub fn target_table<'t>(
    factor: &'t TableFactor,
    verb: &str,
) -> Result<(&'t ast::ObjectName, Option<&'t ast::TableAlias>)> {
    let TableFactor::Table {
        name,
        alias,
        args,
        with_hints,
        version,
        with_ordinality,
        partitions,
        json_path,
        sample,
        index_hints,
    } = factor
    else {
        return Err(SqlError::unsupported(format!("{verb} something that is not a table")));
    };
    check_alias(alias.as_ref())?;
    if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
        return Err(SqlError::syntax("syntax error at or near \"(\""));
    }
    if sample.is_some() {
        return Err(SqlError::syntax("syntax error at or near \"TABLESAMPLE\""));
    }
    let more = args.is_some()
        || !with_hints.is_empty()
        || version.is_some()
        || *with_ordinality
        || !partitions.is_empty()
        || json_path.is_some()
        || !index_hints.is_empty();
    refused(&[(more, "options of the table that is written")])?;
    Ok((name, alias.as_ref()))
}

/// Checks PostgreSQL's limit on the length of a list. Errors: 54011.
pub fn at_most(entries: usize, what: &str) -> Result<()> {
    const MOST: usize = 1664;
    if entries <= MOST {
        return Ok(());
    }
    Err(SqlError::new("54011", format!("{what} can have at most {MOST} entries")))
}
