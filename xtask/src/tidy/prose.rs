//! The prose of documents and doc comments: paragraphs, list items and sentences. Code, tables and headings are no prose.
//!
//! Long sentences and clauses as subjects are counted over the whole tree. A budget permits some, because no count of
//! words is a judgement of a sentence.

use super::Source;

/// The most words of a sentence that is not counted as long.
const SENTENCE_WORDS: usize = 30;
/// The most long sentences in the whole tree.
const LONG_SENTENCES: usize = 40;
/// The most sentences in the whole tree whose subject is a clause.
const CLAUSE_SUBJECTS: usize = 30;
/// Shorter texts are labels.
const SHORTEST_SENTENCE: usize = 4;

/// Verbs that end a clause which serves as subject, as in "What is kept takes memory".
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "does", "do", "can", "may", "must", "will", "takes", "keeps",
    "waits", "sees", "gets", "comes", "goes", "costs", "stays", "needs", "finds", "reads", "knows", "runs", "makes",
    "gives", "meets", "belongs", "begins", "ends", "follows",
];

/// A paragraph or a list item: its words with the numbers of their lines. A word may be punctuation alone.
pub struct Block<'a> {
    words: Vec<(usize, &'a str)>,
}

impl Block<'_> {
    /// The number of the first line.
    pub fn line(&self) -> usize {
        self.words.first().map_or(0, |(line, _)| *line)
    }

    /// The number of words with a letter or a digit.
    pub fn length(&self) -> usize {
        self.words.iter().filter(|(_, word)| is_word(word)).count()
    }

    fn sentences(&self) -> impl Iterator<Item = &[(usize, &str)]> {
        let mut rest = self.words.as_slice();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let last = rest.windows(2).position(|pair| matches!(pair, [(_, word), (_, next)] if ends(word, next)));
            let (sentence, after) = rest.split_at(last.map_or(rest.len(), |last| last + 1));
            rest = after;
            Some(sentence)
        })
    }
}

/// Whether a word counts: it has a letter or a digit.
pub fn is_word(word: &str) -> bool {
    word.contains(char::is_alphanumeric)
}

/// Whether a sentence ends between two words. A semicolon and a colon end one too.
fn ends(word: &str, next: &str) -> bool {
    let word = word.trim_end_matches([')', '"', '*', '_']);
    let next = next.trim_start_matches(['(', '"', '*', '_']);
    word.ends_with([';', ':'])
        || word.ends_with(['.', '!', '?'])
            && next.starts_with(|first: char| first.is_uppercase() || "`[".contains(first))
}

/// The prose of a document, or of a Rust file's doc comments.
pub fn blocks(source: &Source) -> Vec<Block<'_>> {
    let rust = source.path.ends_with(".rs");
    let mut blocks = Vec::new();
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut fenced = false;
    for (number, line) in source.text.lines().enumerate() {
        let body = if rust { doc_comment(line) } else { Some(line) };
        let text = body.unwrap_or_default().trim();
        let fence = text.starts_with("```") || text.starts_with("~~~");
        fenced = body.is_some() && fenced != fence;
        let item = list_item(text);
        let prose = !fenced && !fence && !text.is_empty() && !text.starts_with(['|', '#']) && !text.starts_with("<!--");
        if (!prose || item.is_some()) && !words.is_empty() {
            blocks.push(Block { words: std::mem::take(&mut words) });
        }
        // Indented code cannot interrupt a paragraph.
        let code = words.is_empty() && item.is_none() && body.is_some_and(|body| body.starts_with("    "));
        if prose && !code {
            words.extend(item.unwrap_or(text).split_whitespace().map(|word| (number + 1, word)));
        }
    }
    if !words.is_empty() {
        blocks.push(Block { words });
    }
    blocks
}

fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let body = line.strip_prefix("///").filter(|body| !body.starts_with('/')).or_else(|| line.strip_prefix("//!"))?;
    Some(body.strip_prefix(' ').unwrap_or(body))
}

/// The text of a list item without its mark.
fn list_item(text: &str) -> Option<&str> {
    let numbered = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    match numbered.len() < text.len() {
        true => numbered.strip_prefix(". "),
        false => ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)),
    }
}

/// Sentences that a reader may stumble over, each with its place.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    sentences: usize,
    long: Vec<String>,
    clauses: Vec<String>,
}

impl Tally {
    /// Counts the sentences of one file.
    pub fn add(&mut self, source: &Source) {
        for block in blocks(source) {
            for sentence in block.sentences() {
                let words: Vec<&str> = sentence.iter().map(|(_, word)| *word).filter(|word| is_word(word)).collect();
                if words.len() < SHORTEST_SENTENCE {
                    continue;
                }
                self.sentences += 1;
                let line = sentence.first().map_or(0, |(line, _)| *line);
                let place = || format!("{}:{line}: {} …", source.path, words[..words.len().min(12)].join(" "));
                if words.len() > SENTENCE_WORDS {
                    self.long.push(place());
                }
                if has_clause_as_subject(&words) {
                    self.clauses.push(place());
                }
            }
        }
    }

    /// What is counted, and the places. A count above its budget is a fault.
    pub fn report(&self, faults: &mut Vec<String>) -> String {
        let long = format!("{} of more than {SENTENCE_WORDS} words (budget {LONG_SENTENCES})", self.long.len());
        let clauses = format!("{} with a clause as subject (budget {CLAUSE_SUBJECTS})", self.clauses.len());
        if self.long.len() > LONG_SENTENCES {
            faults.push(format!("sentences: {long}: one idea a sentence"));
        }
        if self.clauses.len() > CLAUSE_SUBJECTS {
            faults.push(format!("sentences: {clauses}: name the actor"));
        }
        let mut report = format!("{} sentences: {long}, {clauses}", self.sentences);
        for (kind, places) in [("long", &self.long), ("clause", &self.clauses)] {
            for place in places {
                report.push_str(&format!("\n  {kind}: {place}"));
            }
        }
        report
    }
}

/// Whether the subject is a clause, as in "What is kept takes memory". A question has none, nor has a title such as
/// "What the tests said".
fn has_clause_as_subject(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let asks = matches!(*first, "Who" | "Whoever" | "What" | "Whatever");
    let question = words.last().is_some_and(|last| last.ends_with('?'));
    // The word behind the first belongs to the clause: "Who is granted a lock reads later".
    let verb = |word: &&str| VERBS.contains(&word.trim_matches(|sign: char| !sign.is_alphanumeric()));
    asks && !question && rest.iter().skip(1).any(verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn tally(path: &str, text: &str) -> Tally {
        let mut tally = Tally::default();
        tally.add(&source(path, text));
        tally
    }

    #[test]
    fn paragraphs_and_list_items_are_prose_and_code_tables_and_headings_are_not() {
        let text = "# Title of it\n\nOne two\nthree.\n\n| a | b |\n|---|---|\n\n- item one\n  goes on\n- item two\n1. item three\n\
            \n    indented code\n\n```text\nfenced code\n```\nThe end.\n";
        let document = source("a.md", text);
        let found: Vec<_> = blocks(&document).iter().map(|block| (block.line(), block.length())).collect();
        assert_eq!(found, [(3, 3), (9, 4), (11, 2), (12, 2), (19, 2)]);
    }

    #[test]
    fn only_doc_comments_of_rust_are_prose() {
        let text =
            "//! Head of it.\n\nuse a;\n/// One two\n/// three.\nfn a() {} // no prose\n// no prose\n//// no prose\n";
        let file = source("a.rs", text);
        let found: Vec<_> = blocks(&file).iter().map(|block| (block.line(), block.length())).collect();
        assert_eq!(found, [(1, 3), (4, 3)]);
    }

    #[test]
    fn a_sentence_of_more_than_30_words_is_counted_where_it_begins() {
        assert_eq!(tally("a.md", &"word ".repeat(30)).long, Vec::<String>::new());
        let found = tally("a.md", &format!("It is short.\nThis {}.", "word ".repeat(30).trim_end()));
        assert_eq!(found.sentences, 1);
        assert_eq!(found.long, [format!("a.md:2: This{} …", " word".repeat(11))]);
    }

    #[test]
    fn full_stops_semicolons_and_colons_end_sentences() {
        let twenty = "word ".repeat(20);
        for sign in [". Then", "; then", ": then", ".) Then", ". `x`"] {
            assert_eq!(tally("a.md", &format!("{}{sign} {twenty}", twenty.trim_end())).long, Vec::<String>::new());
        }
        assert_eq!(tally("a.md", &format!("{}, i.e. {twenty}", twenty.trim_end())).long.len(), 1);
    }

    #[test]
    fn a_clause_as_subject_is_counted() {
        for text in ["What is only ordered is told to nobody.", "Whoever is granted a lock reads at a later timestamp."]
        {
            assert_eq!(tally("a.md", text).clauses.len(), 1, "{text}");
            assert_eq!(tally("a.rs", &format!("/// {text}\nfn a() {{}}\n")).clauses.len(), 1, "{text}");
        }
        for text in ["Who has the lock of it?", "What the tests said.", "A reader sees what is published."] {
            assert_eq!(tally("a.md", text).clauses, Vec::<String>::new());
        }
    }

    #[test]
    fn a_count_above_its_budget_is_a_fault() {
        let counted = |long: usize, clauses: usize| {
            let mut faults = Vec::new();
            let places = |count| vec!["a.md:1: x …".to_owned(); count];
            Tally { sentences: 9, long: places(long), clauses: places(clauses) }.report(&mut faults);
            faults
        };
        assert_eq!(counted(40, 30), Vec::<String>::new());
        assert_eq!(counted(41, 30), ["sentences: 41 of more than 30 words (budget 40): one idea a sentence"]);
        assert_eq!(counted(40, 31), ["sentences: 31 with a clause as subject (budget 30): name the actor"]);
    }
}
