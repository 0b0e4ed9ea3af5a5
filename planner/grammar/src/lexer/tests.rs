//! Tests of the lexer. The answers are PostgreSQL's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use proptest::prelude::*;

fn lexed(text: &str) -> Lexed {
    lex(text, LexOptions::default()).unwrap()
}

/// The tokens of a text, each in a short form with its text.
fn shown(text: &str) -> String {
    let shown = lexed(text).tokens.into_iter().map(|token| match token.kind {
        TokenKind::Name { value, keyword: Some(keyword), quoted: false } => {
            assert_eq!(value, keyword.name());
            value.to_uppercase()
        }
        TokenKind::Name { value, keyword: None, quoted: false } => value,
        TokenKind::Name { value, keyword: None, quoted: true } => format!("\"{value}\""),
        TokenKind::Name { .. } => panic!("a quoted keyword"),
        TokenKind::Integer(digits) => format!("i{digits}"),
        TokenKind::Decimal(digits) => format!("d{digits}"),
        TokenKind::String(value) => format!("'{value}'"),
        TokenKind::Bits(digits) => format!("b{digits}"),
        TokenKind::HexBits(digits) => format!("x{digits}"),
        TokenKind::Parameter(number) => format!("${number}"),
        TokenKind::Operator(signs) => format!("o{signs}"),
        TokenKind::Sign(sign) => sign.to_string(),
        TokenKind::Colon => ":".into(),
        TokenKind::DoubleColon => "::".into(),
        TokenKind::ColonEquals => ":=".into(),
        TokenKind::Arrow => "=>".into(),
        TokenKind::DoublePeriod => "..".into(),
        TokenKind::Broken(error) => format!("!{error}"),
        TokenKind::End => String::new(),
    });
    shown.collect::<Vec<_>>().join(" ").trim_end().to_string()
}

/// The SQLSTATE, message and position of the error in a text.
fn wrong(text: &str) -> (&'static str, String, Option<usize>) {
    let lexed = lexed(text);
    let error = lexed.error().unwrap_or_else(|| panic!("no error in {text:?}"));
    let fields = error.fields();
    let position = |span: Span| text[..span.start as usize].chars().count() + 1;
    (fields.state, fields.message.clone(), fields.span.map(position))
}

#[test]
fn tokens_of_every_kind() {
    let cases = [
        ("", ""),
        (" \t\r\n\u{c}-- a", ""),
        ("SELECT Users ÄÖ $1", "SELECT users ÄÖ $1"),
        ("a$1$ _x é\u{a0}z", "a$1$ _x é\u{a0}z"),
        ("\"Select\" \"a\"\"b\" \"é\nz\"", "\"Select\" \"a\"b\" \"é\nz\""),
        ("1 007 1.5 1. .5 1e5 1.e-5 .5E+7", "i1 i007 d1.5 d1. d.5 d1e5 d1.e-5 d.5E+7"),
        ("99999999999999999999", "i99999999999999999999"),
        ("1..10 1...5 1.5.3 1..a", "i1 .. i10 i1 .. d.5 d1.5 d.3 i1 .. a"),
        ("$0 $4294967297 $99999999999 $99999999999999999999", "$0 $1 $1215752191 $4294967295"),
        ("1$a$b$a$", "i1 'b'"),
        ("()[],;. :: := => : .. ::=", "( ) [ ] , ; . :: := => : .. :: o="),
        ("a.b.*", "a . b . o*"),
        ("+ - * / % ^ < > =", "o+ o- o* o/ o% o^ o< o> o="),
        ("<= >= <> != !== <<= ->> #>> ?| @> &&", "o<= o>= o<> o<> o!== o<<= o->> o#>> o?| o@> o&&"),
        ("=+ => =>- =>= *+-+ @- ?+- <-+", "o= o+ => => o- o=>= o* o+ o- o+ o@- o?+- o< o- o+"),
        ("1+-+-2 -1 a*-1", "i1 o+ o- o+ o- i2 o- i1 a o* o- i1"),
        ("+--c\n1 */* c */ */*c*/- @/-@", "o+ i1 o* o* o- o@/-@"),
        ("a--b\rc /* /* x */ **/ d /*/ */ e /***/", "a c d e"),
        ("u&1 u &'x' ue'a' be b", "u o& i1 u o& 'x' ue 'a' be b"),
        ("n'a' N 'a'", "NCHAR 'a' n 'a'"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn strings_of_every_kind() {
    let cases = [
        ("'' 'a''b' 'a\\' '\n'", "'' 'a'b' 'a\\' '\n'"),
        ("'a'\n'b' -- c\n  'c'", "'abc'"),
        ("'a' -- c\n -- d\n\n 'b'\r\u{c}\t'c'", "'abc'"),
        ("'a' 'b'", "'a' 'b'"),
        ("'a' /* */\n'b'", "'a' 'b'"),
        ("'a'\n/* */'b'", "'a' 'b'"),
        ("'a'\nE'b'\n$$c$$", "'a' 'b' 'c'"),
        ("'a'\n -- x", "'a'"),
        ("'a'-- x\n;'b'", "'a' ; 'b'"),
        ("\"a\"\n\"b\"", "\"a\" \"b\""),
        ("$$a$b$$ $a$x$$y$b$a$ $é1$ $é1$", "'a$b' 'x$$y$b' ' '"),
        ("$$a$$\n'b'\n$$c$$", "'a' 'b' 'c'"),
        ("B'01' b'2'\n'0' X'1F' x'g''1'", "b01 b20 x1F xg '1'"),
        (r"E'a\nb\\\'''\x41\101\u0041\U0001F600\q\v\é'", "'a\nb\\''AAA\u{1F600}qvé'"),
        (r"e'\b\f\r\t\x4\1\777'", "!invalid byte sequence for encoding \"UTF8\": 0xff"),
        (r"e'\b\f\r\t\x4\1\501'", "'\u{8}\u{c}\r\t\u{4}\x01A'"),
        (r"E'\uD83D\uDE00\xc3\xa4\xg'", "'\u{1F600}äxg'"),
        ("E'\\xc3'\n'\\xa4\\\\'", "'ä\\'"),
        ("E'a''b'\n'''\\''", "'a'b'''"),
        (r"U&'d\0061t\+000061\\''' u&'\d83d\DE00'", "'data\\'' '\u{1F600}'"),
        ("U&'d!0061t' UESCAPE '!' u&'é!0061!!\\' uescape\n'!'", "'dat' 'éa!\\'"),
        ("U&'!0041' -- c\n UESCAPE /* */ '!'\n'' x", "'A' x"),
        ("U&'x' UESCAPE E'!' U&'!0041' UESCAPE $$!$$", "'x' 'A'"),
        ("U&'a'\n'\\0041' uescapes", "'aA' uescapes"),
        ("U&\"d\\0061\"\"t\" U&\"!0041\"uescape'!'", "\"da\"t\" \"A\""),
        ("U&'a' \"uescape\" uescape", "'a' \"uescape\" UESCAPE"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_token() {
    let (unicode, surrogate, digits) =
        ("invalid Unicode escape", "invalid Unicode surrogate pair", "trailing junk after numeric literal");
    let near = |what: &str, near: &str| format!("{what} at or near \"{near}\"");
    let cases = [
        ("select 'abc", near("unterminated quoted string", "'abc"), 8),
        ("select 'abc'\n'def", near("unterminated quoted string", "'abc'\n'def"), 8),
        ("select E'abc", near("unterminated quoted string", "E'abc"), 8),
        ("select e'\\", near("unterminated quoted string", "e'\\"), 8),
        ("select E'\\xff", near("unterminated quoted string", "E'\\xff"), 8),
        ("select U&'abc", near("unterminated quoted string", "U&'abc"), 8),
        ("select N'01", near("unterminated quoted string", "'01"), 9),
        ("select \"abc", near("unterminated quoted identifier", "\"abc"), 8),
        ("select U&\"abc", near("unterminated quoted identifier", "U&\"abc"), 8),
        ("select B'01", near("unterminated bit string literal", "B'01"), 8),
        ("select X'01", near("unterminated hexadecimal string literal", "X'01"), 8),
        ("select $a$ s $b$ \n s", near("unterminated dollar-quoted string", "$a$ s $b$ \n s"), 8),
        ("select $$", near("unterminated dollar-quoted string", "$$"), 8),
        ("select /* a /* */ d", near("unterminated /* comment", "/* a /* */ d"), 8),
        ("select \"\"", near("zero-length delimited identifier", "\"\""), 8),
        ("select U&\"\"", near("zero-length delimited identifier", "U&\"\""), 8),
        ("select 12abc", near(digits, "12abc"), 8),
        ("select 1ä$", near(digits, "1ä$"), 8),
        ("select 1e", near(digits, "1e"), 8),
        ("select 1.5e-a", near(digits, "1.5e-"), 8),
        ("select 1.a", near(digits, "1.a"), 8),
        ("select 0x10", near(digits, "0x10"), 8),
        ("select 1_000", near(digits, "1_000"), 8),
        ("select 1e5a", near(digits, "1e5a"), 8),
        ("select $1ä", near("trailing junk after parameter", "$1ä"), 8),
        ("select 1$", near("syntax error", "$"), 9),
        ("select $a", near("syntax error", "$"), 8),
        ("select {", near("syntax error", "{"), 8),
        ("select \\", near("syntax error", "\\"), 8),
        ("select ä\u{b}", near("syntax error", "\u{b}"), 9),
        ("select U&'x' UESCAPE 5", near("UESCAPE must be followed by a simple string literal", "5"), 22),
        ("select U&'x' UESCAPE {", near("UESCAPE must be followed by a simple string literal", "{"), 22),
        ("select U&'x' UESCAPE n'!'", near("UESCAPE must be followed by a simple string literal", "n"), 22),
        ("select U&'x' UESCAPE U&'!' x", near("UESCAPE must be followed by a simple string literal", "U&'!'"), 22),
        ("select U&'x' UESCAPE", "UESCAPE must be followed by a simple string literal at end of input".into(), 21),
        ("select U&'x' UESCAPE ''", near("invalid Unicode escape character", "''"), 22),
        ("select U&'x' UESCAPE '!!'", near("invalid Unicode escape character", "'!!'"), 22),
        ("select U&'x' UESCAPE 'ä'", near("invalid Unicode escape character", "'ä'"), 22),
        ("select U&'x' UESCAPE '\n'", near("invalid Unicode escape character", "'\n'"), 22),
        ("select U&'x' UESCAPE 'a'", near("invalid Unicode escape character", "'a'"), 22),
        ("select U&'a' uescape '", near("unterminated quoted string", "'"), 22),
        (r"select E'\uD83D'", near(surrogate, "'"), 16),
        (r"select E'\uD83Dx'", near(surrogate, "x"), 16),
        (r"select E'\uD83D\n'", near(surrogate, "\\"), 16),
        (r"select E'\uD83D", format!("{surrogate} at end of input"), 16),
        ("select E'\\uD83D'\n'\\uDE00'", near(surrogate, "'"), 16),
        (r"select E'\uDE00'", near(surrogate, r"\uDE00"), 10),
        (r"select E'ä\uD83D\u0041'", near(surrogate, r"\u0041"), 17),
        (r"select E'\U00110000'", near("invalid Unicode escape value", r"\U00110000"), 10),
        (r"select E'\u0000'", near("invalid Unicode escape value", r"\u0000"), 10),
        (r"select U&'\12'", unicode.into(), 11),
        (r"select U&'ab''\12'", unicode.into(), 14),
        (r"select U&'äää\12'", unicode.into(), 14),
        ("select U&'a'\n'\\12'", unicode.into(), 12),
        (r#"select U&"a\12""#, unicode.into(), 12),
        (r"select U&'!ää!' UESCAPE '!'", unicode.into(), 11),
        (r"select U&'\D83D'", surrogate.into(), 16),
        (r"select U&'\D83Dx'", surrogate.into(), 16),
        (r"select U&'\D83D\\'", surrogate.into(), 16),
        (r"select U&'\DE00'", surrogate.into(), 11),
        (r"select U&'\D83D\0041'", surrogate.into(), 16),
        (r"select U&'\D83D\12'", unicode.into(), 16),
        (r"select U&'\D83D\+110000'", format!("{unicode} value"), 16),
        (r"select U&'\0000'", format!("{unicode} value"), 11),
    ];
    for (text, message, position) in cases {
        assert_eq!(wrong(text), ("42601", message, Some(position)), "{text:?}");
    }
}

#[test]
fn broken_escapes_have_states_of_their_own() {
    for (text, position) in [(r"select E'\u12'", 10), (r"select E'\u12", 10), (r"select E'\uD83D\U0012'", 16)] {
        assert_eq!(wrong(text), ("22025", "invalid Unicode escape".into(), Some(position)), "{text:?}");
        let hint = lexed(text).error().unwrap().fields().hint.clone();
        assert_eq!(hint.as_deref(), Some("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."));
    }
    let bytes = [
        (r"select E'a\000\xff'", "0x00"),
        (r"select E'\xff\0'", "0xff"),
        (r"select E'\xe3('", "0xe3 0x28"),
        (r"select E'\xe3'", "0xe3"),
        (r"select E'\xf8\x88\x80'", "0xf8"),
        (r"select E'\xc0\x80\000'", "0xc0 0x80"),
    ];
    for (text, bytes) in bytes {
        let message = format!("invalid byte sequence for encoding \"UTF8\": {bytes}");
        assert_eq!(wrong(text), ("22021", message, None), "{text:?}");
    }
    assert_eq!(lex("a\0b", LexOptions::default()).unwrap_err().fields().state, "22021");
}

#[test]
fn the_parser_meets_errors_in_their_order() {
    let error = |text: &str| crate::Parser::new(text).map(|parser| parser.error()).unwrap().to_string();
    assert_eq!(error("{ 'abc"), "syntax error at or near \"{\"");
    assert_eq!(error("selec 'abc"), "syntax error at or near \"selec\"");
    // PostgreSQL has read the token behind these.
    for word in ["not", "nulls", "with", "U&'a'"] {
        assert_eq!(error(&format!("{word} 'abc")), "unterminated quoted string at or near \"'abc\"");
        assert_eq!(error(&format!("{word} {{")), format!("syntax error at or near \"{word}\""));
    }
    assert_eq!(error("U&'a' UESCAPE '!' 'abc"), "syntax error at or near \"U&'a' UESCAPE '!'\"");
    assert_eq!(error("not /*"), "unterminated /* comment at or near \"/*\"");
    assert_eq!(error("not a 'abc"), "syntax error at or near \"not\"");
    assert_eq!(error(""), "syntax error at end of input");
}

#[test]
fn long_names_are_cut_at_a_character() {
    let (ascii, wide) = ("A".repeat(64), format!("a{}", "é".repeat(40)));
    let text = format!("x {ascii} \"{wide}\" U&\"{ascii}\\0041\" {} ", "b".repeat(63));
    let lexed = lexed(&text);
    let names = lexed.tokens.iter().map(|token| match &token.kind {
        TokenKind::Name { value, .. } => value.as_str(),
        _ => "",
    });
    let cut = format!("a{}", "é".repeat(31));
    assert_eq!(names.collect::<Vec<_>>(), ["x", &"a".repeat(63), &cut, &"A".repeat(63), &"b".repeat(63), ""]);
    let long: Vec<_> = lexed.long_names.iter().map(|(name, span)| (name.as_str(), span.start)).collect();
    let third = 2 + 64 + 1 + wide.len() as u32 + 2 + 1;
    assert_eq!(long, [(&*"a".repeat(64), 2), (&*wide, 67), (&*"A".repeat(65), third)]);

    let operator = |length| shown(&"#".repeat(length));
    assert_eq!(operator(63), format!("o{}", "#".repeat(63)));
    assert_eq!(operator(64), format!("!operator too long at or near \"{}\"", "#".repeat(64)));
    assert_eq!(shown(&format!("-{}", "+".repeat(70))), format!("o-{}", " o+".repeat(70)));
}

#[test]
fn plain_strings_may_have_escapes() {
    let options = LexOptions { standard_strings: false };
    let strings = |text| {
        let lexed = lex(text, options).unwrap();
        let strings = lexed.tokens.iter().filter_map(|token| match &token.kind {
            TokenKind::String(value) => Some(value.clone()),
            TokenKind::Broken(error) => Some(error.to_string()),
            _ => None,
        });
        let escaped = lexed.escaped_strings.iter().map(|(first, span)| (*first, span.start, span.end));
        (strings.collect::<Vec<_>>().join("|"), escaped.collect::<Vec<_>>())
    };
    assert_eq!(
        strings(r"'a\nb' 'a''b' '\\\'' E'\n'"),
        (r"a\nb|a'b|\'|".replace(r"\n", "\n") + "\n", vec![('n', 0, 6), ('\\', 14, 20)])
    );
    assert_eq!(strings("'a'\n'\\é' $$\\$$"), ("aé|\\".into(), vec![('é', 0, 9)]));
    assert_eq!(strings("U&\"\\0041\" 'a\\"), ("unterminated quoted string at or near \"'a\\\"".into(), vec![]));
    let lexed = lex("a u&'x'", options).unwrap();
    let error = lexed.error().unwrap().fields().clone();
    assert_eq!((error.state, &*error.message), ("0A000", "unsafe use of string constant with Unicode escapes"));
    assert_eq!(error.span.unwrap().start, 2);
}

#[test]
fn long_texts_take_linear_time() {
    const LENGTH: usize = 4 << 20;
    let pieces = [
        "a",
        "select x1, 'it''s', ",
        "(",
        "'a'\n",
        "/*",
        "*/ ",
        "--\n",
        "+",
        "-+ ",
        "$a$ ",
        "$",
        "U&'a' ",
        "\"",
        "E'\\n'\n",
        "1.",
        "é ",
    ];
    let started = std::time::Instant::now();
    for piece in pieces {
        lexed(&piece.repeat(LENGTH / 8 / piece.len()));
    }
    lexed(&format!("'{}'", "a''".repeat(LENGTH / 3)));
    let taken = started.elapsed();
    assert!(taken.as_secs() < 60, "{taken:?}");
}

proptest! {
    #[test]
    fn any_text_becomes_tokens_in_order(
        text in prop_oneof![
            any::<String>(),
            "[a-eunxUE0-9 '\"$&\\\\/*+.:=!é\n-]{0,40}",
            proptest::collection::vec(
                prop_oneof![
                    Just("'"), Just("\""), Just("U&'"), Just("U&\""), Just("E'"), Just("\\"), Just("\\uD83D"),
                    Just("\\u"), Just("\\+0000e9"), Just("uescape"), Just(" "), Just("\n"), Just("$a$"), Just("é"),
                    Just("/*"), Just("*/"), Just("--"), Just("+"), Just("1"), Just("."), Just("e"), Just("😀"),
                    Just("not"), Just("{"), Just("''"), Just("x"),
                ],
                0..30,
            ).prop_map(|pieces| pieces.concat()),
        ],
        standard_strings: bool,
    ) {
        let Ok(lexed) = lex(&text, LexOptions { standard_strings }) else {
            prop_assert!(text.contains('\0'));
            return Ok(());
        };
        let mut end = 0;
        let (last, tokens) = lexed.tokens.split_last().unwrap();
        prop_assert_eq!(&last.kind, &TokenKind::End);
        for token in tokens {
            let Span { start, end: next } = token.span;
            let broken = matches!(token.kind, TokenKind::Broken(_));
            prop_assert!(start >= end && (start < next || broken), "{:?} behind {}", token, end);
            prop_assert!(text.get(start as usize..next as usize).is_some(), "{:?}", token);
            end = next;
        }
        let length = text.len() as u32;
        prop_assert_eq!((last.span.start, last.span.end), (length, length));
        prop_assert!(end <= length);
        if let Some(span) = lexed.error().and_then(|error| error.fields().span) {
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }
}
