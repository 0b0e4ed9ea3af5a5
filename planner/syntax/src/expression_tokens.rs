//! Rewrites parts of expressions that sqlparser cannot represent: BETWEEN SYMMETRIC, constants of user-defined types,
//! EXCLUDE in window frames, array elements as targets of SET and INSERT. The binder recognizes them by the constants
//! here. None of these can be written as a name without quotes.

use super::cursor::is_word;
use super::tokens::{between_commas, closing, end_of, follows, sign_at, word, word_at};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// `x BETWEEN SYMMETRIC a AND b` becomes `x BETWEEN marker operator a AND b`. The operator has the lowest precedence.
pub const SYMMETRIC: &str = "\u{1}symmetric";
/// The operator after [`SYMMETRIC`].
const MARK: &str = "#\u{1}";
/// If a window's frame excludes rows, its last sort key is a name of this prefix and the exclusion.
pub const EXCLUDE: &str = "\u{1}exclude ";
/// `SET a[1] = x` becomes `SET a = function(x, a[1])`.
pub const ELEMENT: &str = "\u{1}element";

/// Rewrites BETWEEN SYMMETRIC and ASYMMETRIC at `at`, in any statement. Returns whether one of them was there.
pub fn between(tokens: &mut Vec<TokenWithSpan>, at: usize) -> bool {
    if follows(tokens, at, &["between", "asymmetric"]) {
        tokens.remove(at + 1);
    } else if follows(tokens, at, &["between", "symmetric"])
        && let Some(symmetric) = tokens.get_mut(at + 1)
    {
        let marker = word(Keyword::NoKeyword, SYMMETRIC, symmetric);
        symmetric.token = Token::CustomBinaryOperator(MARK.into());
        tokens.insert(at + 1, marker);
    } else {
        return false;
    }
    true
}

/// Rewrites the tokens at `at` of a query or write.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if between(tokens, at) || named_with_schema(tokens, at) {
    } else if follows(tokens, at, &["substring"]) {
        similar(tokens, at);
        length_first(tokens, at);
    } else if follows(tokens, at, &["trim"]) {
        trimmed(tokens, at);
    } else if follows(tokens, at, &["collation", "for"]) && sign_at(tokens, at + 2, &Token::LParen) {
        // COLLATION FOR (x) is a function call.
        if let Some(here) = tokens.get(at).cloned() {
            tokens.splice(at..at + 2, [word(Keyword::NoKeyword, "pg_collation_for", &here)]);
        }
    } else if follows(tokens, at, &["operator"]) {
        super::select_tokens::prefix_operator(tokens, at);
    } else if follows(tokens, at, &["in"]) {
        listed_query(tokens, at);
    } else if word_at(tokens, at, &["like", "ilike"]) && word_at(tokens, at + 1, &["all"]) {
        query_of_patterns(tokens, at + 2);
    } else if word_at(tokens, at, &["rows", "range", "groups"]) {
        frame_offsets(tokens, at);
    } else if follows(tokens, at, &["exclude"]) {
        exclude(tokens, at);
    } else if follows(tokens, at, &["set"]) {
        elements(tokens, at + 1);
    } else if follows(tokens, at, &["insert", "into"]) {
        element_targets(tokens, at + 2);
    } else {
        typed_constant(tokens, at);
    }
}

/// A function with its own grammar is an ordinary one if schema-qualified: `pg_catalog.substring(x, 1)`.
fn named_with_schema(tokens: &mut [TokenWithSpan], at: usize) -> bool {
    const NAMES: [&str; 7] = ["substring", "substr", "ceil", "floor", "position", "overlay", "interval"];
    let dotted = at.checked_sub(1).is_some_and(|before| sign_at(tokens, before, &Token::Period));
    if !dotted || !word_at(tokens, at, &NAMES) || !sign_at(tokens, at + 1, &Token::LParen) {
        return false;
    }
    if let Some(here) = tokens.get_mut(at)
        && let Token::Word(name) = &mut here.token
    {
        name.keyword = Keyword::NoKeyword;
    }
    true
}

/// `x IN ((SELECT …), y)` becomes `x IN (coalesce((SELECT …)), y)`: sqlparser takes a list that begins with a
/// query for a query.
fn listed_query(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let open = at + 2;
    if !sign_at(tokens, at + 1, &Token::LParen) || !sign_at(tokens, open, &Token::LParen) {
        return;
    }
    let first = (open..).find(|place| !sign_at(tokens, *place, &Token::LParen)).unwrap_or(open);
    let Some(close) = closing(tokens, open) else { return };
    if !word_at(tokens, first, &["select", "with", "values"]) || !sign_at(tokens, close + 1, &Token::Comma) {
        return;
    }
    let (Some(before), Some(after)) = (tokens.get(open).cloned(), tokens.get(close).cloned()) else { return };
    tokens.insert(close, after);
    tokens.insert(open, before.clone());
    tokens.insert(open, word(Keyword::NoKeyword, "coalesce", &before));
}

/// `x LIKE ALL (SELECT …)` becomes `x LIKE ALL ((SELECT …))`: sqlparser reads ALL as a function, whose
/// query argument needs parentheses.
fn query_of_patterns(tokens: &mut Vec<TokenWithSpan>, open: usize) {
    let first = (open..).find(|place| !sign_at(tokens, *place, &Token::LParen)).unwrap_or(open);
    if !word_at(tokens, first, &["select", "with", "values"]) {
        return;
    }
    let Some(close) = closing(tokens, open) else { return };
    if let (Some(before), Some(after)) = (tokens.get(open).cloned(), tokens.get(close).cloned()) {
        tokens.insert(close, after);
        tokens.insert(open, before);
    }
}

/// `substring(x SIMILAR p ESCAPE e)` becomes `substring(x FROM p FOR e)`.
fn similar(tokens: &mut [TokenWithSpan], at: usize) {
    if tokens.get(at + 1).is_none_or(|token| token.token != Token::LParen) {
        return;
    }
    let (mut depth, mut found) = (0usize, None);
    for place in at + 1..tokens.len() {
        match tokens.get(place).map(|token| &token.token) {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) => depth -= 1,
            _ if depth != 1 => {}
            _ if follows(tokens, place, &["similar"]) && !follows(tokens, place, &["similar", "to"]) => {
                found = Some(place);
            }
            _ if found.is_some() && follows(tokens, place, &["escape"]) => {
                for (place, name, keyword) in [(found, "FROM", Keyword::FROM), (Some(place), "FOR", Keyword::FOR)] {
                    if let Some(token) = place.and_then(|place| tokens.get_mut(place)) {
                        *token = word(keyword, name, token);
                    }
                }
                return;
            }
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

/// `substring(x FOR n FROM s)` becomes `substring(x FROM s FOR n)`.
fn length_first(tokens: &mut [TokenWithSpan], at: usize) {
    let Some(close) = closing(tokens, at + 1) else { return };
    let place = |tokens: &[TokenWithSpan], from: usize, name: &str| {
        end_of(tokens, from, |at, _| follows(tokens, at, &[name])).filter(|found| *found < close)
    };
    let Some(length) = place(tokens, at + 2, "for") else { return };
    let Some(start) = place(tokens, length + 1, "from") else { return };
    if let Some(both) = tokens.get_mut(length..close) {
        both.rotate_left(start - length);
    }
}

/// `trim(LEADING FROM x)` becomes `ltrim(x)`. BOTH, TRAILING and the form without a side are similar.
fn trimmed(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if tokens.get(at + 1).is_none_or(|token| token.token != Token::LParen) {
        return;
    }
    let sides = [("leading", "ltrim"), ("trailing", "rtrim"), ("both", "btrim")];
    let found = sides.iter().find(|(side, _)| follows(tokens, at + 2, &[side, "from"]));
    let (name, words) = match found {
        Some((_, name)) => (*name, 2),
        None if follows(tokens, at + 2, &["from"]) => ("btrim", 1),
        None => return,
    };
    tokens.drain(at + 2..at + 2 + words);
    if let Some(token) = tokens.get_mut(at) {
        *token = word(Keyword::NoKeyword, name, token);
    }
}

/// Whether a statement may contain typed constants: a query, a write, or a definition of a table or view.
pub fn has_expressions(tokens: &[TokenWithSpan]) -> bool {
    let words = ["select", "insert", "update", "delete", "merge", "with", "values"];
    let defines = [["create", "table"], ["create", "view"], ["create", "or"]];
    let first = tokens.first();
    first.is_some_and(|first| first.token == Token::LParen || words.iter().any(|word| is_word(first, word)))
        || defines.iter().any(|words| follows(tokens, 0, words))
}

/// `mood 'sad'` becomes `CAST('sad' AS mood)`.
fn typed_constant(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let named = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => word.quote_style.is_some() || matches!(word.keyword, Keyword::NoKeyword | Keyword::NAME),
        _ => false,
    };
    let dotted =
        at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|token| token.token == Token::Period);
    let any_word = |at: usize| tokens.get(at).is_some_and(|token| matches!(token.token, Token::Word(_)));
    let qualified =
        any_word(at) && tokens.get(at + 1).is_some_and(|token| token.token == Token::Period) && any_word(at + 2);
    if dotted || !(qualified || tokens.get(at).is_some_and(named)) {
        return;
    }
    let end = if qualified { at + 3 } else { at + 1 };
    let Some(text) = tokens.get(end).cloned() else { return };
    if !matches!(text.token, Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_)) {
        return;
    }
    let bracket = |token: Token| TokenWithSpan { token, span: text.span };
    let mut cast = vec![word(Keyword::CAST, "CAST", &text), bracket(Token::LParen), text.clone()];
    cast.push(word(Keyword::AS, "AS", &text));
    cast.extend(tokens.get(at..end).unwrap_or_default().to_vec());
    cast.push(bracket(Token::RParen));
    tokens.splice(at..=end, cast);
}

/// `RANGE BETWEEN 'a' PRECEDING AND 'b' FOLLOWING` gets strings such as `E'a'`: sqlparser takes
/// plain ones for intervals.
fn frame_offsets(tokens: &mut [TokenWithSpan], at: usize) {
    let escape = |token: Option<&mut TokenWithSpan>| {
        if let Some(TokenWithSpan { token, .. }) = token
            && let Token::SingleQuotedString(text) = token
        {
            *token = Token::EscapedStringLiteral(std::mem::take(text));
        }
    };
    if !follows(tokens, at + 1, &["between"]) {
        return escape(tokens.get_mut(at + 1));
    }
    escape(tokens.get_mut(at + 2));
    let mut depth = 0usize;
    for place in at + 2..tokens.len() {
        match tokens.get(place).map(|token| &token.token) {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) if depth == 0 => return,
            Some(Token::RParen) => depth -= 1,
            _ if depth == 0 && follows(tokens, place, &["and"]) => return escape(tokens.get_mut(place + 1)),
            _ => {}
        }
    }
}

/// `(… ROWS … EXCLUDE TIES)` gets a last sort key for the exclusion.
fn exclude(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let kinds: [(&[&str], &str); 4] =
        [(&["current", "row"], "current row"), (&["group"], "group"), (&["ties"], "ties"), (&["no", "others"], "")];
    let Some((words, kind)) = kinds.iter().find(|(words, _)| {
        let end = at + 1 + words.len();
        follows(tokens, at + 1, words) && tokens.get(end).is_some_and(|token| token.token == Token::RParen)
    }) else {
        return;
    };
    let (mut frame, mut sorted, mut depth) = (None, false, 0usize);
    for before in (0..at).rev() {
        match tokens.get(before).map(|token| &token.token) {
            Some(Token::RParen) => depth += 1,
            Some(Token::LParen) if depth == 0 => break,
            Some(Token::LParen) => depth -= 1,
            _ if depth > 0 => {}
            _ if frame.is_none() && ["rows", "range", "groups"].iter().any(|unit| follows(tokens, before, &[unit])) => {
                frame = Some(before);
            }
            _ => sorted |= frame.is_some() && follows(tokens, before, &["order", "by"]),
        }
    }
    let (Some(frame), Some(like)) = (frame, tokens.get(at).cloned()) else { return };
    tokens.drain(at..=at + words.len());
    if kind.is_empty() {
        return;
    }
    let mut key = if sorted {
        vec![TokenWithSpan { token: Token::Comma, span: like.span }]
    } else {
        vec![word(Keyword::ORDER, "ORDER", &like), word(Keyword::BY, "BY", &like)]
    };
    key.push(word(Keyword::NoKeyword, &format!("{EXCLUDE}{kind}"), &like));
    tokens.splice(frame..frame, key);
}

/// Rewrites assignments to array elements after SET.
fn elements(tokens: &mut Vec<TokenWithSpan>, first: usize) {
    let mut start = first;
    loop {
        one_by_one(tokens, start);
        let named = matches!(tokens.get(start).map(|token| &token.token), Some(Token::Word(_)));
        let subscripted = tokens.get(start + 1).is_some_and(|token| token.token == Token::LBracket);
        let mut end = end_of_assignment(tokens, start);
        if named && subscripted {
            let equals = end_of(tokens, start, |at, token| at >= end || token.token == Token::Eq);
            let Some(equals) = equals.filter(|equals| *equals < end) else { return };
            let (Some(name), Some(sign)) = (tokens.get(start).cloned(), tokens.get(equals).cloned()) else { return };
            let target = tokens.get(start..equals).unwrap_or_default().to_vec();
            let value = tokens.get(equals + 1..end).unwrap_or_default().to_vec();
            let token = |token: Token| TokenWithSpan { token, span: name.span };
            let mut new = vec![name.clone(), sign, word(Keyword::NoKeyword, ELEMENT, &name), token(Token::LParen)];
            new.extend(value);
            new.push(token(Token::Comma));
            new.extend(target);
            new.push(token(Token::RParen));
            let length = new.len();
            tokens.splice(start..end, new);
            end = start + length;
        }
        if tokens.get(end).is_none_or(|token| token.token != Token::Comma) {
            return;
        }
        start = end + 1;
    }
}

/// `(n, a[1]) = (x, y)` becomes `n = x, a[1] = y`: sqlparser knows no elements in such a list. For a query on the
/// right, the elements become marker names.
fn one_by_one(tokens: &mut Vec<TokenWithSpan>, start: usize) {
    let Some(close) = closing(tokens, start).filter(|_| sign_at(tokens, start, &Token::LParen)) else { return };
    let row = close + 2 + usize::from(word_at(tokens, close + 2, &["row"]));
    if !sign_at(tokens, close + 1, &Token::Eq) || !sign_at(tokens, row, &Token::LParen) {
        return;
    }
    let first = (row..).find(|place| !sign_at(tokens, *place, &Token::LParen)).unwrap_or(row);
    if word_at(tokens, first, &["select", "with", "values", "table"]) {
        selected(tokens, first);
        return named_elements(tokens, start);
    }
    let Some(end) = closing(tokens, row) else { return };
    let (Some(targets), Some(values)) = (tokens.get(start + 1..close), tokens.get(row + 1..end)) else { return };
    let (targets, values) = (between_commas(targets), between_commas(values));
    let element = |target: &&[TokenWithSpan]| target.iter().any(|token| token.token == Token::LBracket);
    let Some(sign) = tokens.get(close + 1).filter(|_| targets.iter().any(element)) else { return };
    if targets.len() != values.len() {
        return;
    }
    let mut assignments = Vec::new();
    for (target, value) in targets.into_iter().zip(values) {
        if !assignments.is_empty() {
            assignments.push(TokenWithSpan { token: Token::Comma, span: sign.span });
        }
        assignments.extend_from_slice(target);
        assignments.push(sign.clone());
        assignments.extend_from_slice(value);
    }
    tokens.splice(start..=end, assignments);
}

/// Turns `(VALUES …)` and `(TABLE t)` into SELECT: in SET sqlparser takes VALUES for a function.
fn selected(tokens: &mut Vec<TokenWithSpan>, first: usize) {
    let (Some(here), Some(close)) =
        (tokens.get(first).cloned(), first.checked_sub(1).and_then(|open| closing(tokens, open)))
    else {
        return;
    };
    let sign = |token| TokenWithSpan { token, span: here.span };
    let select = [word(Keyword::SELECT, "SELECT", &here), sign(Token::Mul), word(Keyword::FROM, "FROM", &here)];
    if word_at(tokens, first, &["table"]) {
        tokens.splice(first..=first, select);
    } else if word_at(tokens, first, &["values"]) {
        tokens.splice(close..close, [sign(Token::RParen), word(Keyword::NoKeyword, "v", &here)]);
        tokens.splice(first..first, select.into_iter().chain([sign(Token::LParen)]));
    }
}

/// Rewrites array elements among the columns of INSERT.
fn element_targets(tokens: &mut Vec<TokenWithSpan>, first: usize) {
    let Some(open) = end_of(tokens, first, |_, token| token.token == Token::LParen) else { return };
    let between = tokens.get(first..open).unwrap_or_default();
    let name = |token: &TokenWithSpan| matches!(token.token, Token::Word(_) | Token::Period);
    let query = ["select", "with", "values", "table"].iter().any(|word| follows(tokens, open + 1, &[word]));
    if !query && between.iter().all(name) && !between.iter().any(|token| is_word(token, "values")) {
        named_elements(tokens, open);
    }
}

/// Replaces the elements in a list of targets by marker names that contain the written text. The list begins at `open`.
fn named_elements(tokens: &mut Vec<TokenWithSpan>, open: usize) {
    let mut at = open + 1;
    loop {
        let end = end_of(tokens, at, |_, token| matches!(token.token, Token::Comma | Token::RParen));
        let Some(end) = end else { return };
        let subscripted = tokens.get(at + 1).is_some_and(|token| token.token == Token::LBracket);
        let mut behind = end + 1;
        if let (true, Some(target)) = (subscripted, tokens.get(at).cloned()) {
            let written: Vec<String> =
                tokens.get(at..end).unwrap_or_default().iter().map(|token| token.token.to_string()).collect();
            let value = format!("{ELEMENT} {}", written.join(" "));
            let name = Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword };
            tokens.splice(at..end, [TokenWithSpan { token: Token::Word(name), span: target.span }]);
            behind = at + 2;
        }
        if tokens.get(behind - 1).is_none_or(|token| token.token != Token::Comma) {
            return;
        }
        at = behind;
    }
}

/// The end of an assignment: the comma after it, the word that begins the next clause, or the end of the tokens.
fn end_of_assignment(tokens: &[TokenWithSpan], start: usize) -> usize {
    let ends = |at: usize, token: &TokenWithSpan| {
        let compared = || at.checked_sub(1).is_some_and(|before| follows(tokens, before, &["distinct"]));
        token.token == Token::Comma
            || is_word(token, "where")
            || is_word(token, "returning")
            || is_word(token, "from") && !compared()
    };
    end_of(tokens, start, ends).unwrap_or(tokens.len())
}
