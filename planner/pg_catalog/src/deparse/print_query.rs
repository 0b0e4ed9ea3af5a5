//! Prints queries in PostgreSQL's layout.

use super::node::{
    Body, From, Group, Join, Key, Node, Query, RelationKind, Select, SetArm, Sort, Sub, SubKind, Wait, Window,
};
use super::node::{Common, FramePart};
use super::printer::{Printer, SMALL_STEP, STEP};
use super::types::Ty;
use syntax::names::quote;
use syntax::{deeper, strength_words};

/// The outer names of a query's columns.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    /// The column names of the view, if the query is a view's.
    pub of_view: Option<&'n [String]>,
    /// Whether the outer query refers to the columns by name.
    pub called: bool,
}

impl Names<'_> {
    /// The columns keep their own names.
    pub const SHOWN: Names<'static> = Names { of_view: None, called: true };
}

impl Printer<'_> {
    /// Prints a query with its WITH clause.
    pub fn query(&mut self, query: &Query, names: Names<'_>) {
        self.name_relations(query);
        if !query.with.is_empty() {
            self.with(query);
        }
        match &query.body {
            Body::Empty => {}
            Body::Select(select) => self.select(select, query, names),
            Body::Values(rows) => self.values(rows, names),
            Body::Set { words, all, left, right } => self.set_operation((words, *all), (left, right), names),
        }
        if !query.order_by.is_empty() {
            self.line(" ORDER BY ", -STEP, STEP, 1);
            self.sorts(&query.order_by);
        }
        if let Some(offset) = &query.offset {
            self.line(" OFFSET ", -STEP, STEP, 0);
            self.node(offset, false);
        }
        if let Some(limit) = &query.limit {
            if query.with_ties {
                self.line(" FETCH FIRST ", -STEP, STEP, 0);
                self.push("(");
                self.node(limit, false);
                self.push(") ROWS WITH TIES");
            } else {
                self.line(" LIMIT ", -STEP, STEP, 0);
                self.node(limit, false);
            }
        }
        for lock in &query.locks {
            self.line(&format!(" {}", strength_words(lock.strength)), -STEP, STEP, 0);
            let name = self.names.get(lock.relation).cloned().flatten().unwrap_or_default();
            self.push(&format!(" OF {}", quote(&name)));
            self.push(match lock.wait {
                Wait::Block => "",
                Wait::Skip => " SKIP LOCKED",
                Wait::Error => " NOWAIT",
            });
        }
    }

    fn name_relations(&mut self, query: &Query) {
        for at in query.relations.iter().copied() {
            let Some(wanted) = self.relations.get(at).and_then(|relation| relation.printed.clone()) else { continue };
            let taken = |names: &[Option<String>], name: &str| names.iter().flatten().any(|known| known == name);
            let mut name = wanted.clone();
            let mut number = 0;
            while taken(&self.names, &name) {
                number += 1;
                name = format!("{wanted}_{number}");
            }
            if let Some(place) = self.names.get_mut(at) {
                *place = Some(name);
            }
        }
    }

    /// Prints a nested query. Its relations' names are free again afterwards.
    pub fn inner_query(&mut self, query: &Query, names: Names<'_>) {
        let (known, indent) = (self.names.clone(), self.indent);
        self.query(query, names);
        (self.names, self.indent) = (known, indent);
    }

    fn with(&mut self, query: &Query) {
        self.indent += STEP;
        self.push(" ");
        self.push(if query.recursive { "WITH RECURSIVE " } else { "WITH " });
        for (at, Common { name, aliases, materialized, query }) in query.with.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.push(&quote(name));
            if !aliases.is_empty() {
                self.push(&format!("({})", quoted(aliases)));
            }
            self.push(" AS ");
            self.push(match materialized {
                Some(true) => "MATERIALIZED ",
                Some(false) => "NOT MATERIALIZED ",
                None => "",
            });
            self.push("(");
            self.line("", 0, 0, 0);
            self.inner_query(query, Names::SHOWN);
            self.line("", 0, 0, 0);
            self.push(")");
        }
        self.indent -= STEP;
        self.line("", 0, 0, 0);
    }

    fn select(&mut self, select: &Select, query: &Query, names: Names<'_>) {
        self.indent += STEP;
        self.push(" SELECT");
        if !select.distinct_on.is_empty() {
            self.push(" DISTINCT ON (");
            for (at, key) in select.distinct_on.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                self.key(key);
            }
            self.push(")");
        } else if select.distinct {
            self.push(" DISTINCT");
        }
        let own: Vec<String> = query.columns.iter().map(|(name, _)| name.clone()).collect();
        self.items(&select.items, Names { of_view: Some(names.of_view.unwrap_or(&own)), ..names });
        self.from(&select.from);
        if let Some(filter) = &select.filter {
            self.line(" WHERE ", -STEP, STEP, 1);
            self.node(filter, false);
        }
        if !select.group_by.is_empty() {
            self.line(" GROUP BY ", -STEP, STEP, 1);
            if select.group_distinct {
                self.push("DISTINCT ");
            }
            for (at, group) in select.group_by.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                self.group(group);
            }
        }
        if let Some(having) = &select.having {
            self.line(" HAVING ", -STEP, STEP, 0);
            self.node(having, false);
        }
        for (at, (name, window)) in select.windows.iter().enumerate() {
            match at {
                0 => self.line(" WINDOW ", -STEP, STEP, 1),
                _ => self.push(", "),
            }
            self.push(&format!("{} AS ", quote(name)));
            self.window(window);
        }
    }

    fn items(&mut self, items: &[Node], names: Names<'_>) {
        let mut wrapped = false;
        for (at, item) in items.iter().enumerate() {
            self.push(if at > 0 { ", " } else { " " });
            let name = names.of_view.and_then(|names| names.get(at));
            let text = self.apart(|printer| {
                printer.node(item, true);
                let own = match item {
                    Node::Column { name, .. } => Some(name.as_str()),
                    // A column that is never referred to by name needs no alias.
                    _ => Some("?column?").filter(|_| !names.called),
                };
                if let Some(name) = name.filter(|name| own != Some(name.as_str())) {
                    printer.push(&format!(" AS {}", quote(name)));
                }
            });
            wrapped = self.item(&text, at > 0, wrapped);
        }
    }

    /// Appends an item of a list, on its own line if the line would be too long. Returns whether the
    /// item has several lines.
    fn item(&mut self, text: &str, later: bool, after_lines: bool) -> bool {
        let Some(wrap) = self.wrap else {
            self.push(text);
            return false;
        };
        let first_line = text.strip_prefix('\n');
        if first_line.is_some() {
            let kept = self.text.trim_end_matches(' ').len();
            self.text.truncate(kept);
        } else {
            let line = self.text.rsplit('\n').next().map_or(0, str::len);
            // The newline before the line counts, as in PostgreSQL.
            let line = if self.text.contains('\n') { line + 1 } else { line };
            if later && (line + text.len() > wrap || after_lines) {
                self.line("", -STEP, STEP, SMALL_STEP);
            }
        }
        self.push(text);
        first_line.unwrap_or(text).contains('\n')
    }

    fn from(&mut self, from: &[From]) {
        for (at, item) in from.iter().enumerate() {
            if at == 0 {
                self.line(" FROM ", -STEP, STEP, 2);
                self.item_of_from(item);
                continue;
            }
            self.push(", ");
            let text = self.apart(|printer| printer.item_of_from(item));
            self.item(&text, true, false);
        }
    }

    fn item_of_from(&mut self, item: &From) {
        match item {
            From::Relation(at) => self.relation(*at),
            From::Join(join) => deeper(|| self.join(join)),
        }
    }

    fn relation(&mut self, at: usize) {
        let Some(relation) = self.relations.get(at) else { return };
        let name = self.names.get(at).cloned().flatten().unwrap_or_default();
        if relation.lateral {
            self.push("LATERAL ");
        }
        let mut shown = relation.aliased;
        let mut types: Vec<Ty> = Vec::new();
        match &relation.kind {
            RelationKind::Table { shown: text, name: own } => {
                self.push(text);
                shown |= *own != name;
            }
            RelationKind::Common(own) => {
                self.push(&quote(own));
                shown |= *own != name;
            }
            RelationKind::Query(query) => {
                self.push("(");
                self.inner_query(query, Names::SHOWN);
                self.push(")");
                shown = true;
            }
            RelationKind::Function { call, ordinality, defined } => {
                self.node(call, true);
                if *ordinality {
                    self.push(" WITH ORDINALITY");
                }
                shown = true;
                types.clone_from(defined);
            }
            RelationKind::Join => {}
        }
        if shown {
            self.push(&format!(" {}", quote(&name)));
        }
        if types.is_empty() && !relation.aliases.is_empty() {
            self.push(&format!("({})", quoted(&relation.aliases)));
        } else if !types.is_empty() {
            let column = |(name, ty): (&String, &Ty)| format!("{} {}", quote(name), self.type_name(*ty));
            let columns: Vec<String> = relation.aliases.iter().zip(&types).map(column).collect();
            self.push(&format!("({})", columns.join(", ")));
        }
    }

    fn join(&mut self, join: &Join) {
        let brackets = !self.pretty || join.alias.is_some();
        if brackets {
            self.push("(");
        }
        self.item_of_from(&join.left);
        self.line(&format!(" {} ", join.words), -STEP, STEP, SMALL_STEP);
        let right = self.pretty && matches!(&join.right, From::Join(right) if right.alias.is_none());
        self.push(if right { "(" } else { "" });
        self.item_of_from(&join.right);
        self.push(if right { ")" } else { "" });
        if !join.using.is_empty() {
            self.push(&format!(" USING ({})", quoted(&join.using)));
            if let Some(alias) = &join.using_alias {
                self.push(&format!(" AS {}", quote(alias)));
            }
        } else if let Some(on) = &join.on {
            self.push(" ON ");
            self.open();
            self.node(on, false);
            self.close();
        }
        if brackets {
            self.push(")");
        }
        if let Some((alias, columns)) = &join.alias {
            self.push(&format!(" {}", quote(alias)));
            if !columns.is_empty() {
                self.push(&format!("({})", quoted(columns)));
            }
        }
    }

    fn values(&mut self, rows: &[Vec<Node>], names: Names<'_>) {
        self.indent += STEP;
        let own = |at: usize| format!("column{}", at + 1);
        let width = rows.first().map_or(0, Vec::len);
        let renamed =
            |at: usize| names.of_view.and_then(|names| names.get(at)).filter(|name| **name != own(at)).cloned();
        if (0..width).all(|at| renamed(at).is_none()) {
            self.push(" ");
            return self.rows_of_values(rows);
        }
        // Renamed columns need a SELECT from VALUES.
        self.push(" SELECT");
        let mut wrapped = false;
        for at in 0..width {
            self.push(if at > 0 { ", " } else { " " });
            let text = match renamed(at) {
                Some(name) => format!("\"*VALUES*\".{} AS {}", own(at), quote(&name)),
                None => format!("\"*VALUES*\".{}", own(at)),
            };
            wrapped = self.item(&text, at > 0, wrapped);
        }
        self.line(" FROM ", -STEP, STEP, 2);
        self.push("(");
        self.rows_of_values(rows);
        self.push(") \"*VALUES*\"");
    }

    fn rows_of_values(&mut self, rows: &[Vec<Node>]) {
        self.push("VALUES ");
        for (at, row) in rows.iter().enumerate() {
            self.push(if at > 0 { ", (" } else { "(" });
            for (at, value) in row.iter().enumerate() {
                self.push(if at > 0 { "," } else { "" });
                self.node(value, false);
            }
            self.push(")");
        }
    }

    fn set_operation(
        &mut self,
        (words, all): (&'static str, bool),
        (left, right): (&SetArm, &SetArm),
        names: Names<'_>,
    ) {
        // A left operand with the same operation needs no parentheses.
        let brackets = match left {
            SetArm::Set { words: of_left, all: all_of_left, .. } => *of_left != words || *all_of_left != all,
            SetArm::Query(_) => false,
        };
        let step = if brackets { STEP } else { 0 };
        if brackets {
            self.push("(");
            self.indent += step;
            self.line("", 0, 0, 0);
        }
        self.arm(left, names);
        if brackets {
            self.indent -= step;
            self.line(")", 0, 0, 0);
            self.push(" ");
        } else {
            self.line("", 0, 0, 0);
        }
        self.push(words);
        self.push(if all { " ALL " } else { " " });
        let brackets = matches!(right, SetArm::Set { .. });
        let step = if brackets { STEP } else { 0 };
        if brackets {
            self.push("(");
        }
        self.indent += step;
        self.line("", 0, 0, 0);
        self.arm(right, Names { called: false, ..names });
        self.indent -= step;
        if brackets {
            self.line(")", 0, 0, 0);
        }
    }

    fn arm(&mut self, arm: &SetArm, names: Names<'_>) {
        match arm {
            SetArm::Set { words, all, left, right } => {
                deeper(|| self.set_operation((words, *all), (left, right), names));
            }
            SetArm::Query(query) => {
                let brackets = !query.with.is_empty()
                    || !query.order_by.is_empty()
                    || query.offset.is_some()
                    || query.limit.is_some()
                    || matches!(query.body, Body::Set { .. });
                if brackets {
                    self.push("(");
                }
                self.inner_query(query, names);
                if brackets {
                    self.push(")");
                }
            }
        }
    }

    /// Prints a subquery in an expression.
    pub fn sub(&mut self, sub: &Sub) {
        let outer = sub.kind != SubKind::Array;
        self.push(if outer { "(" } else { "ARRAY(" });
        match sub.left.as_slice() {
            [] => {}
            [left] => self.node(left, true),
            several => {
                self.push("(");
                self.list(several, true);
                self.push(")");
            }
        }
        let mut brackets = true;
        match sub.kind {
            SubKind::Exists => self.push("EXISTS "),
            SubKind::Any if sub.operator == "=" => self.push(" IN "),
            SubKind::Any => self.push(&format!(" {} ANY ", sub.operator)),
            SubKind::All => self.push(&format!(" {} ALL ", sub.operator)),
            SubKind::Value | SubKind::Array => brackets = false,
        }
        if brackets {
            self.push("(");
        }
        self.inner_query(&sub.query, Names { called: false, ..Names::SHOWN });
        self.push(if brackets { "))" } else { ")" });
    }

    /// Prints the keys of an ORDER BY.
    pub fn sorts(&mut self, sorts: &[Sort]) {
        for (at, sort) in sorts.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.key(&sort.key);
            self.push(if sort.descending { " DESC" } else { "" });
            self.push(sort.nulls.unwrap_or(""));
        }
    }

    fn key(&mut self, key: &Key) {
        if let Some(number) = key.number {
            self.push(&number.to_string());
            return;
        }
        match &key.node {
            Node::Const(ty, value) => self.constant(*ty, value.as_deref(), 1),
            Node::Column { .. } => self.node(&key.node, true),
            node => {
                let brackets = self.pretty || matches!(node, Node::Call(_) | Node::Cast { call: true, .. });
                self.push(if brackets { "(" } else { "" });
                self.node(node, true);
                self.push(if brackets { ")" } else { "" });
            }
        }
    }

    fn keys(&mut self, keys: &[Key]) {
        for (at, key) in keys.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.key(key);
        }
    }

    fn group(&mut self, group: &Group) {
        match group {
            Group::Key(key) => self.key(key),
            Group::Set(keys) => {
                self.push("(");
                self.keys(keys);
                self.push(")");
            }
            Group::Sets(word, sets) => {
                self.push(&format!("{word}("));
                for (at, set) in sets.iter().enumerate() {
                    self.push(if at > 0 { ", " } else { "" });
                    match set.as_slice() {
                        [one] => self.key(one),
                        several => {
                            self.push("(");
                            self.keys(several);
                            self.push(")");
                        }
                    }
                }
                self.push(")");
            }
            Group::Nested(groups) => {
                self.push("GROUPING SETS (");
                for (at, group) in groups.iter().enumerate() {
                    self.push(if at > 0 { ", " } else { "" });
                    self.group(group);
                }
                self.push(")");
            }
        }
    }

    /// Prints a window specification in parentheses.
    pub fn window(&mut self, window: &Window) {
        self.push("(");
        let mut space = false;
        if let Some(base) = &window.base {
            self.push(&quote(base));
            space = true;
        }
        if !window.partition_by.is_empty() {
            self.push(if space { " PARTITION BY " } else { "PARTITION BY " });
            self.keys(&window.partition_by);
            space = true;
        }
        if !window.order_by.is_empty() {
            self.push(if space { " ORDER BY " } else { "ORDER BY " });
            self.sorts(&window.order_by);
            space = true;
        }
        if !window.frame.is_empty() {
            self.push(if space { " " } else { "" });
            for part in &window.frame {
                match part {
                    FramePart::Words(words) => self.push(words),
                    FramePart::Offset(node) => self.node(node, false),
                }
            }
        }
        self.push(")");
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
}
