//! Texts that were written under `standard_conforming_strings = off`.

use super::source::Source;
use grammar::lexer::{LexOptions, lex};
use sql_error::Result;

/// Rewrites such a text: plain strings with backslashes get an E before them. Also returns the character after the
/// first backslash of each. Errors: those of the lexer, 0A000 for `U&'…'`.
pub fn standard(text: &str) -> Result<(String, Vec<char>)> {
    let refused = |error| Source::new(text).refused(error);
    let lexed = lex(text, LexOptions { standard_strings: false }).map_err(refused)?;
    if let Some(error) = lexed.error() {
        return Err(refused(error.clone()));
    }
    let (mut written, mut done, mut escaped) = (String::with_capacity(text.len()), 0, Vec::new());
    for (first, span) in lexed.escaped_strings {
        let start = usize::try_from(span.start).unwrap_or(usize::MAX);
        written.push_str(text.get(done..start).unwrap_or(""));
        written.push('E');
        done = start;
        escaped.push(first);
    }
    written.push_str(text.get(done..).unwrap_or(""));
    Ok((written, escaped))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sql_error::state;

    #[test]
    fn plain_strings_with_backslashes_become_strings_with_escapes() {
        for (text, said) in [
            (r"select 'a\nb', 'c'", r"select E'a\nb', 'c'"),
            (r"select 'it\'s', e'\\', date'x'", r"select E'it\'s', e'\\', date'x'"),
            (r#"select "a\'", $$\'$$, $x$ '\' $x$, a$b$, '\\'"#, r#"select "a\'", $$\'$$, $x$ '\' $x$, a$b$, E'\\'"#),
            ("select 1 -- '\\\n, '\\t' /* '\\' /* */ '\\' */", "select 1 -- '\\\n, E'\\t' /* '\\' /* */ '\\' */"),
            (r"select $1, 'a''\b'", r"select $1, E'a''\b'"),
            ("select 'a'\n'\\b'", "select E'a'\n'\\b'"),
        ] {
            assert_eq!(standard(text).unwrap().0, said);
        }
        assert_eq!(standard(r"select 'a\n', '\\'").unwrap().1, ['n', '\\']);
        assert_eq!(standard(r"select U&'\0041'").unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
        assert_eq!(standard(r"select 'a\'").unwrap_err().state(), state::SYNTAX_ERROR);
    }
}
