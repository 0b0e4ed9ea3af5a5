//! [`Pattern`]: a compiled regular expression, and the search for its matches.

use super::dissect::{Dissection, Places, Plan};
use super::parse::{Options, Tree, parse};
use super::program::{Program, Text};
use super::translate;
use super::tree::Node;
use crate::Ctype;
use regex::Regex;
use sql_error::interrupt;
use sql_error::value_size::{Scratch, scratch};
use sql_error::{Result, SqlError};
use std::cell::OnceCell;

/// Bytes of a text that takes long to search.
const LONG_TEXT: usize = 4096;

/// A compiled regular expression.
pub struct Pattern {
    tree: Tree,
    /// The groups that back references refer to.
    groups: Vec<Option<Node>>,
    program: Program,
    /// Finds matches if the crate can express the pattern.
    regex: Option<Regex>,
    references: bool,
    greedy: bool,
    ctype: Ctype,
    plan: OnceCell<Plan>,
}

/// A text to search, indexed once for many searches.
pub struct Subject<'t> {
    text: &'t str,
    chars: Vec<char>,
    /// Byte offset of each character, and of the end.
    bytes: Vec<usize>,
    _held: Scratch,
}

/// A byte range of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Span<'t> {
    /// Byte offset of the start.
    pub fn start(&self) -> usize {
        self.start
    }
    /// Byte offset behind the end.
    pub fn end(&self) -> usize {
        self.end
    }
    /// Whether it contains no bytes.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
    /// The text of the range.
    pub fn as_str(&self) -> &'t str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A match: the whole, then its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures<'t>(Vec<Option<Span<'t>>>);

impl<'t> Captures<'t> {
    /// A group by its number; 0 is the whole match.
    pub fn get(&self, group: usize) -> Option<Span<'t>> {
        self.0.get(group).copied().flatten()
    }
    /// The whole match, then its groups.
    pub fn iter(&self) -> impl Iterator<Item = Option<Span<'t>>> {
        self.0.iter().copied()
    }
    /// Number of groups, plus one for the whole match.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<'t> Subject<'t> {
    /// Indexes a text. Errors: 53200.
    pub fn new(text: &'t str) -> Result<Self> {
        let held = scratch(text.len().saturating_mul(size_of::<char>() + size_of::<usize>()))?;
        let bytes = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Ok(Subject { text, chars: text.chars().collect(), bytes, _held: held })
    }
    /// The whole text under search.
    pub fn text(&self) -> &'t str {
        self.text
    }
    fn place(&self, byte: usize) -> usize {
        self.bytes.partition_point(|at| *at < byte)
    }
    fn span(&self, (from, to): (usize, usize)) -> Span<'t> {
        let byte = |place: usize| self.bytes.get(place).copied().unwrap_or(self.text.len());
        Span { text: self.text, start: byte(from), end: byte(to) }
    }
}

fn collect_groups(node: &Node, groups: &mut Vec<Option<Node>>) {
    match node {
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().for_each(|node| collect_groups(node, groups)),
        Node::Repeat { node, .. } => collect_groups(node, groups),
        Node::Group(number, node) => {
            if let Some(slot) = groups.get_mut(*number) {
                *slot = Some(node.as_ref().clone());
            }
            collect_groups(node, groups);
        }
        _ => {}
    }
}

impl Pattern {
    /// Compiles a pattern. Errors: 2201B.
    pub fn new(pattern: &str, options: Options) -> Result<Pattern> {
        let tree = parse(pattern, options)?;
        let traits = tree.node.traits();
        let mut groups = vec![None; tree.groups + 1];
        if traits.references {
            collect_groups(&tree.node, &mut groups);
        }
        let program = Program::new(&[&tree.node], &groups, false)?;
        let regex = translate::regex(&tree.node);
        let greedy = tree.node.greedy().unwrap_or(true);
        let (references, ctype) = (traits.references, options.ctype);
        Ok(Pattern { tree, groups, program, regex, references, greedy, ctype, plan: OnceCell::new() })
    }

    /// Number of capturing groups.
    pub fn groups(&self) -> usize {
        self.tree.groups
    }

    /// Whether the pattern matches anywhere in a text. Errors: 2201B if that takes too long.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        check_before(text)?;
        match &self.regex {
            Some(regex) => Ok(regex.is_match(text)),
            None => Ok(self.find(&Subject::new(text)?, 0)?.is_some()),
        }
    }

    fn plan(&self) -> Result<&Plan> {
        if self.plan.get().is_none() {
            let plan = Plan::new(&self.tree.node, &self.groups)?;
            let _ = self.plan.set(plan);
        }
        self.plan.get().ok_or_else(|| SqlError::internal("a pattern without a plan"))
    }

    /// The first match at or behind byte `from`. Errors: 2201B if that takes too long.
    pub fn find<'t>(&self, subject: &Subject<'t>, from: usize) -> Result<Option<Captures<'t>>> {
        check_before(subject.text)?;
        let text = Text::new(&subject.chars, self.ctype);
        let first = subject.place(from);
        let starts = match &self.regex {
            Some(regex) => match regex.find_at(subject.text, from) {
                Some(found) => {
                    let start = subject.place(found.start());
                    start..=start
                }
                None => return Ok(None),
            },
            None => first..=subject.chars.len(),
        };
        for start in starts {
            if let Some(places) = self.match_at(&text, start)? {
                let spans = places.into_iter().map(|place| place.map(|place| subject.span(place))).collect();
                return Ok(Some(Captures(spans)));
            }
        }
        Ok(None)
    }

    /// The match that starts at a character position.
    fn match_at(&self, text: &Text<'_>, start: usize) -> Result<Option<Places>> {
        let ends = if self.references {
            let mut ends = self.program.ends(text, start, text.chars.len())?;
            if self.greedy {
                ends.reverse();
            }
            ends
        } else {
            self.program.end(text, start, self.greedy)?.into_iter().collect()
        };
        for end in ends {
            let mut places: Places = vec![None; self.tree.groups + 1];
            if self.tree.groups == 0 && !self.references
                || (Dissection { text, places: &mut places }).divide(self.plan()?, start, end)?
            {
                if let Some(whole) = places.first_mut() {
                    *whole = Some((start, end));
                }
                return Ok(Some(places));
            }
        }
        Ok(None)
    }
}

/// Checks for cancellation before a long text. A search takes milliseconds, so the checks between rows would be too
/// rare.
fn check_before(text: &str) -> Result<()> {
    if text.len() >= LONG_TEXT { interrupt::check() } else { Ok(()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::parse::Syntax;
    use super::*;

    fn groups(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
        let pattern = Pattern::new(pattern, Options::new(Ctype::Unicode)).unwrap();
        let found = pattern.find(&Subject::new(text).unwrap(), 0).unwrap()?;
        Some(found.iter().map(|span| span.map(|span| span.as_str().to_string())).collect())
    }
    fn whole(pattern: &str, text: &str) -> Option<String> {
        groups(pattern, text)?.into_iter().next().flatten()
    }

    #[test]
    fn which_match_is_meant() {
        // Checked against PostgreSQL 15.
        for (pattern, text, found) in [
            ("Y*([0-9]{1,3})", "XY1234Z", "Y123"),
            ("Y*?([0-9]{1,3})", "XY1234Z", "Y1"),
            ("a|ab", "abc", "ab"),
            ("(a|ab)(c|bcd)", "abcd", "abcd"),
            ("a?(ab)?", "ab", "ab"),
            ("a.*?b", "axbxb", "axb"),
            ("(?:a.*?b){1}", "axbxb", "axb"),
            ("x*", "aaa", ""),
            ("(a*)*", "aa", "aa"),
            ("foo(?=bar)", "foobar", "foo"),
            ("foo(?!bar)", "foobar foobaz", "foo"),
            ("(?<=a)b", "bab", "b"),
            ("***=a.c", "xa.cabc", "a.c"),
            ("(?i)ABC", "xabcx", "abc"),
            ("(?x) a b # comment", "ab", "ab"),
            ("\\mfoo\\M", "afoo foo", "foo"),
            ("[[:<:]]foo[[:>:]]", "foo", "foo"),
            ("[\\d_]+", "ab12_c", "12_"),
            ("\\u00e4+", "xää", "ää"),
            ("a{2}", "aaa", "aa"),
            ("a{", "a{", "a{"),
            ("", "abc", ""),
            ("(|b)c", "abc", "bc"),
        ] {
            assert_eq!(whole(pattern, text).as_deref(), Some(found), "{pattern} {text}");
        }
        assert_eq!(whole("foo(?!bar)", "foobar"), None);
        assert_eq!(whole("^b", "ab"), None);
    }

    #[test]
    fn how_a_match_is_divided() {
        // Checked against PostgreSQL 15.
        let some = |texts: &[&str]| Some(texts.iter().map(|text| Some((*text).to_string())).collect::<Vec<_>>());
        assert_eq!(groups("(.*?)(\\d+)(.*)", "abc01234xyz"), some(&["abc0", "abc", "0", ""]));
        assert_eq!(groups("(?:(.*?)(\\d+)(.*)){1,1}", "abc01234xyz"), some(&["abc01234xyz", "abc", "01234", "xyz"]));
        assert_eq!(groups("(.*)(\\d+)(.*)", "abc01234xyz"), some(&["abc01234xyz", "abc0123", "4", "xyz"]));
        assert_eq!(groups("(a|ab)(c|bcd)(d*)", "abcd"), some(&["abcd", "ab", "c", "d"]));
        assert_eq!(groups("(ab|a)*", "aba"), some(&["aba", "a"]));
        assert_eq!(groups("(a)\\1", "baa"), some(&["aa", "a"]));
        assert_eq!(groups("^(.+)(?:,\\1)*$", "ab,ab,ab"), some(&["ab,ab,ab", "ab,ab,ab"]));
        assert_eq!(groups("a?(?:ab)?(b*)", "abb"), some(&["abb", "b"]));
        assert_eq!(groups("(x)|(b)", "b"), Some(vec![Some("b".into()), None, Some("b".into())]));
    }

    #[test]
    fn faults_have_postgresqls_words() {
        // Checked against PostgreSQL 15.
        for (pattern, what) in [
            ("*a", "quantifier operand invalid"),
            ("a**", "quantifier operand invalid"),
            ("(?<x>b)", "quantifier operand invalid"),
            ("(a", "parentheses () not balanced"),
            ("a)", "parentheses () not balanced"),
            ("[a", "brackets [] not balanced"),
            ("[b-a]", "invalid character range"),
            ("[[:foo:]]", "invalid character class"),
            ("a{2,1}", "invalid repetition count(s)"),
            ("a{256}", "invalid repetition count(s)"),
            ("a{1", "braces {} not balanced"),
            ("\\1", "invalid backreference number"),
            ("(a)\\2", "invalid backreference number"),
            ("\\q", "invalid escape \\ sequence"),
            ("a\\", "invalid escape \\ sequence"),
            ("(?Z)a", "invalid embedded option"),
        ] {
            let error = Pattern::new(pattern, Options::new(Ctype::Unicode)).err().unwrap();
            assert_eq!(error.state(), "2201B", "{pattern}");
            assert_eq!(error.fields().message, format!("invalid regular expression: {what}"), "{pattern}");
        }
    }

    #[test]
    fn long_texts_take_no_stack_and_bad_patterns_end() {
        let text = "ab".repeat(50_000);
        assert_eq!(groups("^(a|b)*$", &text).unwrap().get(1).cloned().flatten().as_deref(), Some("b"));
        let pattern = Pattern::new("^(x+x+)+\\1+y$", Options::new(Ctype::Unicode)).unwrap();
        // The search either finds in time that there is no `y`, or reports that it takes too long.
        let found = pattern.is_match(&"x".repeat(40));
        assert!(matches!(&found, Ok(false)) || found.is_err_and(|error| error.state() == "2201B"));
        let literal = Options { syntax: Syntax::Literal, ..Options::new(Ctype::Unicode) };
        assert!(Pattern::new("a.(", literal).unwrap().is_match("xa.(").unwrap());
    }
}
