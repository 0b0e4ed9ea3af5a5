//! [`Writer`]: the text of a tree as it grows. It sets the spaces between words and signs.

use super::name;

/// Below this many free bytes the stack grows.
const RED_ZONE: usize = 256 << 10;
/// By so many bytes.
const GROWTH: usize = 4 << 20;

/// A node that is written as text.
pub(super) trait Print {
    /// Writes the node behind the text so far.
    fn print(&self, out: &mut Writer);
}

impl<T: Print> Print for Box<T> {
    fn print(&self, out: &mut Writer) {
        (**self).print(out);
    }
}

/// The text so far.
#[derive(Default)]
pub(super) struct Writer {
    text: String,
    /// Whether the next word follows without a space.
    glued: bool,
}

impl Writer {
    /// The text of a node.
    pub(super) fn text_of(node: &impl Print) -> String {
        let mut out = Writer { text: String::new(), glued: true };
        node.print(&mut out);
        out.text
    }

    /// Writes words, or a sign with spaces around it.
    pub(super) fn word(&mut self, word: &str) -> &mut Self {
        self.space();
        self.text.push_str(word);
        self
    }

    /// Writes words if a condition holds.
    pub(super) fn word_if(&mut self, condition: bool, word: &str) -> &mut Self {
        if condition { self.word(word) } else { self }
    }

    /// Writes one word or the other.
    pub(super) fn either(&mut self, condition: bool, yes: &str, no: &str) -> &mut Self {
        self.word(if condition { yes } else { no })
    }

    /// Writes `yes` or `no` if there is a condition.
    pub(super) fn choice(&mut self, condition: Option<bool>, yes: &str, no: &str) -> &mut Self {
        match condition {
            Some(condition) => self.either(condition, yes, no),
            None => self,
        }
    }

    /// Writes a sign that stands right behind a word, such as a comma.
    pub(super) fn sign(&mut self, sign: &str) -> &mut Self {
        self.text.push_str(sign);
        self.glued = false;
        self
    }

    /// Writes a sign with no space around it, such as a point.
    pub(super) fn tie(&mut self, sign: &str) -> &mut Self {
        self.text.push_str(sign);
        self.glued = true;
        self
    }

    /// Writes `(` behind a space.
    pub(super) fn open(&mut self) -> &mut Self {
        self.space();
        self.tie("(")
    }

    /// Writes `)`.
    pub(super) fn close(&mut self) -> &mut Self {
        self.sign(")")
    }

    /// Writes a name, quoted if need be.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        match name {
            // Before the words FIRST and LAST it is no name.
            "nulls" => self.word("\"nulls\""),
            name => self.word(&name::quoted(name)),
        }
    }

    /// Writes a string constant.
    pub(super) fn string(&mut self, value: &str) -> &mut Self {
        self.word(&name::string(value))
    }

    /// Writes a node.
    pub(super) fn node(&mut self, node: &impl Print) -> &mut Self {
        node.print(self);
        self
    }

    /// Writes a word and a node, if there is one.
    pub(super) fn clause(&mut self, word: &str, node: &Option<impl Print>) -> &mut Self {
        match node {
            Some(node) => self.word(word).node(node),
            None => self,
        }
    }

    /// Writes a node if there is one.
    pub(super) fn optional(&mut self, node: &Option<impl Print>) -> &mut Self {
        match node {
            Some(node) => self.node(node),
            None => self,
        }
    }

    /// Writes items by `print`, with commas between them.
    pub(super) fn each<'i, T: 'i>(
        &mut self,
        items: impl IntoIterator<Item = &'i T>,
        mut print: impl FnMut(&mut Self, &'i T),
    ) -> &mut Self {
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.sign(",");
            }
            print(self, item);
        }
        self
    }

    /// Writes nodes with commas between them.
    pub(super) fn list(&mut self, nodes: &[impl Print]) -> &mut Self {
        self.each(nodes, |out, node| node.print(out))
    }

    /// Writes nodes one behind the other.
    pub(super) fn sequence(&mut self, nodes: &[impl Print]) -> &mut Self {
        nodes.iter().for_each(|node| node.print(self));
        self
    }

    /// Writes nodes in parentheses.
    pub(super) fn enclosed(&mut self, nodes: &[impl Print]) -> &mut Self {
        self.open().list(nodes).close()
    }

    /// Writes nodes in parentheses, if there are any.
    pub(super) fn enclosed_if_any(&mut self, nodes: &[impl Print]) -> &mut Self {
        if nodes.is_empty() { self } else { self.enclosed(nodes) }
    }

    /// Writes nodes in parentheses right behind a word, as in a call.
    pub(super) fn arguments(&mut self, nodes: &[impl Print]) -> &mut Self {
        self.tie("(").list(nodes).close()
    }

    /// Writes a word and nodes, if there are any.
    pub(super) fn list_clause(&mut self, word: &str, nodes: &[impl Print]) -> &mut Self {
        if nodes.is_empty() { self } else { self.word(word).list(nodes) }
    }

    /// Writes by `print` on a stack that suffices. Every function that may call itself goes through here.
    pub(super) fn deeper(&mut self, print: impl FnOnce(&mut Self)) -> &mut Self {
        stacker::maybe_grow(RED_ZONE, GROWTH, || print(self));
        self
    }

    /// Writes a sign before its operand. A space keeps it apart from another sign.
    pub(super) fn prefix(&mut self, sign: &str, print: impl FnOnce(&mut Self)) -> &mut Self {
        self.word(sign);
        let at = self.text.len();
        self.glued = true;
        print(self);
        let follows = self.text.as_bytes().get(at).copied().unwrap_or(b' ');
        let simple = matches!(sign, "+" | "-") && (follows.is_ascii_alphanumeric() || b"($_\"'.".contains(&follows));
        if !simple {
            self.text.insert(at, ' ');
        }
        self
    }

    fn space(&mut self) {
        if !std::mem::take(&mut self.glued) {
            self.text.push(' ');
        }
    }
}
