//! [`Printer`]: text in PostgreSQL's layout, and expressions with PostgreSQL's parentheses.

use super::Context;
use super::node::{Call, Node, Place, Relation, SubKind, Syntax};
use super::types::{Ty, oid};
use crate::describe;
use syntax::names::quote;

/// The indentation of a clause in columns.
pub const STEP: i32 = 8;
/// The indentation of list items, and of WHEN in CASE, in columns.
pub const SMALL_STEP: i32 = 4;

/// A text being printed.
pub struct Printer<'a> {
    /// The reader's names and settings.
    pub context: &'a Context<'a>,
    /// The text so far.
    pub text: String,
    /// Whether redundant parentheses are omitted.
    pub pretty: bool,
    /// The current indentation in columns.
    pub indent: i32,
    /// The longest line in characters. 0 puts each item on its own line, and `None` sets no limit.
    pub wrap: Option<usize>,
    /// The relations of all queries. `names` holds their printed names.
    pub relations: &'a [Relation],
    pub names: Vec<Option<String>>,
}

impl<'a> Printer<'a> {
    /// Starts with an empty text.
    pub fn new(context: &'a Context<'a>, pretty: bool, relations: &'a [Relation]) -> Printer<'a> {
        let names = relations.iter().map(|_| None).collect();
        Printer { context, text: String::new(), pretty, indent: 0, wrap: Some(0), relations, names }
    }

    /// Appends text as it is.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins a line with a word. `before` changes the indentation for this and later lines, `plus` for this line
    /// alone, `after` from the next line on.
    pub fn line(&mut self, word: &str, before: i32, after: i32, plus: i32) {
        const FURTHEST: i32 = 40;
        self.indent += before;
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        let depth = if self.indent < FURTHEST {
            self.indent.max(0)
        } else {
            (FURTHEST + (self.indent - FURTHEST) / (STEP / 2)) % FURTHEST
        };
        self.text.push('\n');
        self.text.push_str(&" ".repeat(usize::try_from(depth + plus).unwrap_or(0)));
        self.text.push_str(word);
        self.indent = (self.indent + after).max(0);
    }

    /// Returns the output of `print` as a separate text.
    pub fn apart(&mut self, print: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.text);
        print(self);
        std::mem::replace(&mut self.text, before)
    }

    /// Opens a parenthesis that pretty printing omits.
    pub fn open(&mut self) {
        if !self.pretty {
            self.text.push('(');
        }
    }

    /// Closes a parenthesis opened by [`Printer::open`].
    pub fn close(&mut self) {
        if !self.pretty {
            self.text.push(')');
        }
    }

    /// The printed name of a type.
    pub fn type_name(&self, ty: Ty) -> String {
        let catalog = self.context.catalog;
        match catalog.type_by_oid(ty.oid).filter(|found| matches!(found.base, types::BaseType::Enum(_))) {
            Some(found) => catalog.type_name(found, self.context.search_path),
            None => describe::format_type(ty.oid, Some(ty.modifier)),
        }
    }

    /// Prints a constant. A negative `label` omits the type, 0 prints it if needed, and a positive one always.
    pub fn constant(&mut self, ty: Ty, value: Option<&str>, label: i32) {
        let Some(value) = value else {
            self.push("NULL");
            if label >= 0 {
                let name = self.type_name(ty);
                self.push(&format!("::{name}"));
            }
            return;
        };
        let digit = value.starts_with(|c: char| c.is_ascii_digit());
        let (bare, labelled) = match ty.oid {
            oid::INT4 => (digit, !digit),
            oid::NUMERIC => {
                let bare = digit && value.contains(['e', 'E', '.']);
                (bare, !bare || ty.modifier >= 0)
            }
            oid::BOOL => (true, false),
            oid::UNKNOWN => (false, false),
            _ => (false, true),
        };
        match (ty.oid, bare) {
            (oid::BOOL, _) => self.push(if value == "t" { "true" } else { "false" }),
            (_, true) => self.push(value),
            _ => self.push(&literal(value)),
        }
        if label > 0 || (label == 0 && labelled) {
            let name = self.type_name(ty);
            self.push(&format!("::{name}"));
        }
    }

    /// Prints expressions separated by commas.
    pub fn list(&mut self, nodes: &[Node], implicit: bool) {
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.node(node, implicit);
        }
    }

    /// Prints an operand, with the parentheses that pretty printing needs.
    pub fn part(&mut self, node: &Node, implicit: bool, parent: &Node, first: bool) {
        let needed = self.pretty && !simple(node, parent, first);
        if needed {
            self.push("(");
        }
        self.node(node, implicit);
        if needed {
            self.push(")");
        }
    }

    /// Prints an expression. `implicit` tells whether an outermost implicit cast is shown.
    pub fn node(&mut self, node: &Node, implicit: bool) {
        match node {
            Node::Const(ty, value) => self.constant(*ty, value.as_deref(), 0),
            Node::Column { relation, name, .. } => {
                let qualifier = relation.and_then(|at| self.names.get(at).cloned().flatten());
                if let Some(qualifier) = qualifier {
                    self.push(&format!("{}.", quote(&qualifier)));
                }
                self.push(&quote(name));
            }
            Node::Operator { name, operands, .. } => {
                self.open();
                match operands.as_slice() {
                    [left, right] => {
                        self.part(left, true, node, true);
                        self.push(&format!(" {name} "));
                        self.part(right, true, node, false);
                    }
                    operands => {
                        self.push(&format!("{name} "));
                        operands.iter().for_each(|operand| self.part(operand, true, node, false));
                    }
                }
                self.close();
            }
            Node::Distinct(sides) => {
                let [left, right] = sides.as_ref();
                self.open();
                self.part(left, true, node, true);
                self.push(" IS DISTINCT FROM ");
                self.part(right, true, node, false);
                self.close();
            }
            Node::AnyAll { name, left, right, all } => {
                self.open();
                self.part(left, true, node, true);
                self.push(&format!(" {name} {} (", if *all { "ALL" } else { "ANY" }));
                self.part(right, true, node, false);
                if let Node::Sub(sub) = right.as_ref()
                    && sub.kind == SubKind::Value
                {
                    let name = self.type_name(right.ty());
                    self.push(&format!("::{name}"));
                }
                self.push(")");
                self.close();
            }
            Node::Junction { or, parts } => {
                self.open();
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        self.push(if *or { " OR " } else { " AND " });
                    }
                    self.part(part, false, node, at == 0);
                }
                self.close();
            }
            Node::Not(arg) => {
                self.open();
                self.push("NOT ");
                self.part(arg, false, node, true);
                self.close();
            }
            Node::NullTest { arg, negated } => {
                self.open();
                self.part(arg, true, node, true);
                self.push(if *negated { " IS NOT NULL" } else { " IS NULL" });
                self.close();
            }
            Node::TruthTest { arg, words } => {
                self.open();
                self.part(arg, false, node, true);
                self.push(&format!(" {words}"));
                self.close();
            }
            Node::Cast { arg, ty, implicit: hidden, .. } => match *hidden && !implicit {
                true => self.part(arg, false, node, true),
                false => self.cast(arg, *ty, node),
            },
            Node::Call(call) => self.call(call, node),
            Node::Keyword { text, .. } => self.push(text),
            Node::Case { operand, whens, otherwise, .. } => {
                self.line("CASE", 0, SMALL_STEP, 0);
                if let Some(operand) = operand {
                    self.push(" ");
                    self.node(operand, true);
                }
                for (when, then) in whens {
                    self.line("WHEN ", 0, 0, 0);
                    self.node(when, false);
                    self.push(" THEN ");
                    self.node(then, true);
                }
                self.line("ELSE ", 0, 0, 0);
                self.node(otherwise, true);
                self.line("END", -SMALL_STEP, 0, 0);
            }
            Node::Listed { word, args, .. } => {
                self.push(&format!("{word}("));
                self.list(args, true);
                self.push(")");
            }
            Node::Array { items, ty } => {
                self.push("ARRAY[");
                self.list(items, true);
                self.push("]");
                if items.is_empty() {
                    let name = self.type_name(Ty::of(ty.oid));
                    self.push(&format!("::{name}"));
                }
            }
            Node::Row(items) => {
                self.push("ROW(");
                self.list(items, true);
                self.push(")");
            }
            Node::RowCompare { name, left, right } => {
                self.push("(ROW(");
                self.list(left, true);
                self.push(&format!(") {name} ROW("));
                self.list(right, true);
                self.push("))");
            }
            Node::Subscript { arg, places, .. } => {
                let brackets = !matches!(arg.as_ref(), Node::Column { .. } | Node::Subscript { .. });
                if brackets {
                    self.push("(");
                }
                self.node(arg, true);
                if brackets {
                    self.push(")");
                }
                places.iter().for_each(|place| self.place(place));
            }
            Node::Collate { arg, name } => {
                self.open();
                self.part(arg, implicit, node, true);
                self.push(&format!(" COLLATE {}", quote(name)));
                self.close();
            }
            Node::Grouping(args) => {
                self.push("GROUPING(");
                self.list(args, true);
                self.push(")");
            }
            Node::Sub(sub) => self.sub(sub),
        }
    }

    fn place(&mut self, place: &Place) {
        self.push("[");
        match place {
            Place::At(node) => self.node(node, false),
            Place::Part(from, to) => {
                from.iter().for_each(|from| self.node(from, false));
                self.push(":");
                to.iter().for_each(|to| self.node(to, false));
            }
        }
        self.push("]");
    }

    fn cast(&mut self, arg: &Node, ty: Ty, node: &Node) {
        match arg {
            // A constant that is cut to a length shows its type only once.
            Node::Const(of, value) if of.oid == ty.oid && of.modifier == -1 => {
                self.constant(*of, value.as_deref(), -1);
            }
            _ => {
                self.open();
                self.part(arg, false, node, true);
                self.close();
            }
        }
        let name = self.type_name(ty);
        self.push(&format!("::{name}"));
    }

    fn call(&mut self, call: &Call, node: &Node) {
        if let Some(syntax) = call.syntax
            && self.standard(syntax, &call.args, node).is_some()
        {
            return;
        }
        self.push(&format!("{}(", quote(&call.name)));
        if call.star {
            self.push("*");
        }
        if call.distinct {
            self.push("DISTINCT ");
        }
        let named = call.args.len().saturating_sub(call.names.len());
        for (at, arg) in call.args.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            if call.variadic && at + 1 == call.args.len() {
                self.push("VARIADIC ");
            }
            if let Some(name) = at.checked_sub(named).and_then(|at| call.names.get(at)) {
                self.push(&format!("{} => ", quote(name)));
            }
            self.node(arg, true);
        }
        if !call.order_by.is_empty() {
            self.push(if call.within_group { ") WITHIN GROUP (ORDER BY " } else { " ORDER BY " });
            self.sorts(&call.order_by);
        }
        self.push(")");
        if let Some(filter) = &call.filter {
            self.push(" FILTER (WHERE ");
            self.node(filter, false);
            self.push(")");
        }
        if let Some(over) = &call.over {
            self.push(" OVER ");
            match &over.name {
                Some(name) => self.push(&quote(name)),
                None => self.window(over),
            }
        }
    }

    /// Prints `FROM from FOR length)`: the end of OVERLAY and SUBSTRING.
    fn write_from_and_for(&mut self, from: &Node, rest: &[Node]) {
        self.push(" FROM ");
        self.node(from, false);
        if let [length] = rest {
            self.push(" FOR ");
            self.node(length, false);
        }
        self.push(")");
    }

    /// Prints a call in the standard's syntax. `None`, with nothing printed, if there is none for these arguments.
    fn standard(&mut self, syntax: Syntax, args: &[Node], node: &Node) -> Option<()> {
        let word = |arg: Option<&Node>| match arg {
            Some(Node::Const(_, Some(word))) => Some(word.clone()),
            _ => None,
        };
        match (syntax, args) {
            (Syntax::AtTimeZone, [zone, time]) => {
                self.push("(");
                self.part(time, false, node, true);
                self.push(" AT TIME ZONE ");
                self.part(zone, false, node, false);
                self.push(")");
            }
            (Syntax::Overlaps, [a, b, c, d]) => {
                self.push("((");
                self.list(&[a.clone(), b.clone()], false);
                self.push(") OVERLAPS (");
                self.list(&[c.clone(), d.clone()], false);
                self.push("))");
            }
            (Syntax::Extract, [_, from]) => {
                let field = word(args.first())?;
                self.push(&format!("EXTRACT({field} FROM "));
                self.node(from, false);
                self.push(")");
            }
            (Syntax::Normalized, [text, ..]) => {
                let form = word(args.get(1)).map(|form| format!(" {form}")).unwrap_or_default();
                self.push("(");
                self.part(text, false, node, true);
                self.push(&format!(" IS{form} NORMALIZED)"));
            }
            (Syntax::Normalize, [text, ..]) => {
                let form = word(args.get(1)).map(|form| format!(", {form}")).unwrap_or_default();
                self.push("NORMALIZE(");
                self.node(text, false);
                self.push(&format!("{form})"));
            }
            (Syntax::Overlay, [text, placing, from, rest @ ..]) => {
                self.push("OVERLAY(");
                self.node(text, false);
                self.push(" PLACING ");
                self.node(placing, false);
                self.write_from_and_for(from, rest);
            }
            (Syntax::Position, [whole, text]) => {
                self.push("POSITION((");
                self.node(text, false);
                self.push(") IN (");
                self.node(whole, false);
                self.push("))");
            }
            (Syntax::Substring, [text, from, rest @ ..]) => {
                self.push("SUBSTRING(");
                self.node(text, false);
                self.write_from_and_for(from, rest);
            }
            (Syntax::SubstringSimilar, [text, pattern, escape]) => {
                self.push("SUBSTRING(");
                self.node(text, false);
                self.push(" SIMILAR ");
                self.node(pattern, false);
                self.push(" ESCAPE ");
                self.node(escape, false);
                self.push(")");
            }
            (Syntax::CollationFor, [value]) => {
                self.push("COLLATION FOR (");
                self.node(value, false);
                self.push(")");
            }
            (Syntax::TrimBoth | Syntax::TrimLeading | Syntax::TrimTrailing, [text, what @ ..]) => {
                self.push(match syntax {
                    Syntax::TrimBoth => "TRIM(BOTH",
                    Syntax::TrimLeading => "TRIM(LEADING",
                    _ => "TRIM(TRAILING",
                });
                if let [what] = what {
                    self.push(" ");
                    self.node(what, false);
                }
                self.push(" FROM ");
                self.node(text, false);
                self.push(")");
            }
            _ => return None,
        }
        Some(())
    }
}

/// Quotes a string constant.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether an operand needs no parentheses in `parent`. `first` tells whether it is the first operand.
fn simple(node: &Node, parent: &Node, first: bool) -> bool {
    match node {
        Node::Const(..)
        | Node::Column { .. }
        | Node::Subscript { .. }
        | Node::Array { .. }
        | Node::Row(_)
        | Node::Listed { .. }
        | Node::Keyword { .. }
        | Node::Call(_)
        | Node::Grouping(_)
        | Node::Case { .. }
        | Node::Cast { call: true, .. } => true,
        Node::Cast { arg, .. } => simple(arg, node, true),
        Node::Operator { .. } if matches!(parent, Node::Operator { .. }) => match (priority(node), priority(parent)) {
            (Some(own), Some(of_parent)) => own > of_parent || (own == of_parent && first),
            _ => false,
        },
        Node::Junction { or, .. } => match parent {
            Node::Junction { or: of_parent, .. } => !or || *of_parent,
            parent => keeps_apart(parent),
        },
        Node::Not(_) => matches!(parent, Node::Junction { .. }) || keeps_apart(parent),
        Node::Operator { .. } | Node::Sub(_) | Node::NullTest { .. } | Node::TruthTest { .. } | Node::Distinct(_) => {
            matches!(parent, Node::Junction { .. } | Node::Not(_)) || keeps_apart(parent)
        }
        Node::AnyAll { .. } | Node::RowCompare { .. } | Node::Collate { .. } => false,
    }
}

/// Whether an expression encloses each of its parts in parentheses or words.
fn keeps_apart(parent: &Node) -> bool {
    match parent {
        Node::Call(call) => call.syntax.is_none(),
        Node::Subscript { .. } | Node::Array { .. } | Node::Row(_) | Node::Listed { .. } => true,
        Node::Grouping(_) | Node::Case { .. } => true,
        _ => false,
    }
}

/// The precedence of the basic operators. `None` for others.
fn priority(node: &Node) -> Option<u8> {
    match node {
        Node::Operator { name, operands, .. } if operands.len() == 2 => match name.as_str() {
            "+" | "-" => Some(1),
            "*" | "/" | "%" => Some(2),
            _ => None,
        },
        _ => None,
    }
}
