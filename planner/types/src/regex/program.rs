//! [`Program`]: an automaton for a part of a pattern. It runs over a text forwards or backwards, in all states at once.

use super::class::{Set, is_word};
use super::tree::{Node, Test};
use crate::Ctype;
use sql_error::interrupt;
use sql_error::{Result, SqlError};
use std::cell::Cell;

/// Most states of an automaton.
const STATES: usize = 200_000;
/// Most steps of one search.
const STEPS: u64 = 400_000_000;

/// The error 2201B for a pattern that is too large or slow.
pub(super) fn too_complex() -> SqlError {
    SqlError::new("2201B", "invalid regular expression: regular expression is too complex")
}

#[derive(Clone, Debug)]
enum Op {
    Set(usize),
    Split(usize, usize),
    Jump(usize),
    Test(Test),
    Look { program: usize, negative: bool },
    Match,
}

/// An automaton of states and transitions.
#[derive(Clone, Debug)]
pub(super) struct Program {
    ops: Vec<Op>,
    sets: Vec<Set>,
    looks: Vec<Program>,
    backwards: bool,
}

/// A text under search, and the steps left for it.
pub(super) struct Text<'t> {
    pub chars: &'t [char],
    pub ctype: Ctype,
    steps: Cell<u64>,
}

impl<'t> Text<'t> {
    pub(super) fn new(chars: &'t [char], ctype: Ctype) -> Self {
        Text { chars, ctype, steps: Cell::new(STEPS) }
    }
    pub(super) fn spend(&self, steps: usize) -> Result<()> {
        /// Number of steps between two checks for cancellation.
        const BETWEEN_LOOKS: u64 = 1 << 16;
        let before = self.steps.get();
        let left = before.checked_sub(steps as u64 + 1).ok_or_else(too_complex)?;
        if before / BETWEEN_LOOKS != left / BETWEEN_LOOKS {
            interrupt::check()?;
        }
        self.steps.set(left);
        Ok(())
    }
    fn at(&self, position: usize) -> Option<char> {
        self.chars.get(position).copied()
    }
    fn before(&self, position: usize) -> Option<char> {
        position.checked_sub(1).and_then(|before| self.at(before))
    }
    fn holds(&self, test: Test, position: usize) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| is_word(c, self.ctype));
        let (before, after) = (self.before(position), self.at(position));
        match test {
            Test::TextStart => before.is_none(),
            Test::TextEnd => after.is_none(),
            Test::LineStart => before.is_none_or(|c| c == '\n'),
            Test::LineEnd => after.is_none_or(|c| c == '\n'),
            Test::WordStart => !word(before) && word(after),
            Test::WordEnd => word(before) && !word(after),
            Test::WordEdge => word(before) != word(after),
            Test::NotWordEdge => word(before) == word(after),
        }
    }
}

/// The states that wait for a character.
#[derive(Default)]
struct States {
    list: Vec<usize>,
    marks: Vec<u32>,
    mark: u32,
}

impl States {
    fn clear(&mut self, size: usize) {
        self.list.clear();
        if self.marks.len() < size || self.mark == u32::MAX {
            self.marks = vec![0; size];
            self.mark = 0;
        }
        self.mark += 1;
    }
    fn first(&mut self, state: usize) -> bool {
        match self.marks.get_mut(state) {
            Some(mark) if *mark != self.mark => {
                *mark = self.mark;
                true
            }
            _ => false,
        }
    }
}

impl Program {
    /// The automaton of a sequence of nodes. `groups` holds the patterns that back references refer to. Errors: 2201B
    /// if it is too large.
    pub(super) fn new(nodes: &[&Node], groups: &[Option<Node>], backwards: bool) -> Result<Program> {
        let mut program = Program { ops: Vec::new(), sets: Vec::new(), looks: Vec::new(), backwards };
        program.row(nodes, groups)?;
        program.ops.push(Op::Match);
        Ok(program)
    }

    fn push(&mut self, op: Op) -> Result<usize> {
        if self.ops.len() >= STATES {
            return Err(too_complex());
        }
        self.ops.push(op);
        Ok(self.ops.len() - 1)
    }

    fn row(&mut self, nodes: &[&Node], groups: &[Option<Node>]) -> Result<()> {
        if self.backwards {
            nodes.iter().rev().try_for_each(|node| self.add(node, groups))
        } else {
            nodes.iter().try_for_each(|node| self.add(node, groups))
        }
    }

    fn set(&mut self, at: usize, op: Op) {
        if let Some(slot) = self.ops.get_mut(at) {
            *slot = op;
        }
    }

    fn add(&mut self, node: &Node, groups: &[Option<Node>]) -> Result<()> {
        match node {
            Node::Empty => {}
            Node::Set(set) => {
                let at = self.sets.iter().position(|known| known == set).unwrap_or_else(|| {
                    self.sets.push(set.clone());
                    self.sets.len() - 1
                });
                self.push(Op::Set(at))?;
            }
            Node::Concat(nodes) => self.row(&nodes.iter().collect::<Vec<_>>(), groups)?,
            Node::Alternate(nodes) => {
                let mut ends = Vec::new();
                for (at, node) in nodes.iter().enumerate() {
                    if at + 1 == nodes.len() {
                        self.add(node, groups)?;
                        continue;
                    }
                    let split = self.push(Op::Match)?;
                    self.add(node, groups)?;
                    ends.push(self.push(Op::Match)?);
                    self.set(split, Op::Split(split + 1, self.ops.len()));
                }
                let end = self.ops.len();
                for at in ends {
                    self.set(at, Op::Jump(end));
                }
            }
            Node::Repeat { node, min, max, .. } => {
                for _ in 0..*min {
                    self.add(node, groups)?;
                }
                match max {
                    None => {
                        let split = self.push(Op::Match)?;
                        self.add(node, groups)?;
                        self.push(Op::Jump(split))?;
                        self.set(split, Op::Split(split + 1, self.ops.len()));
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in *min..*max {
                            splits.push(self.push(Op::Match)?);
                            self.add(node, groups)?;
                        }
                        let end = self.ops.len();
                        for split in splits {
                            self.set(split, Op::Split(split + 1, end));
                        }
                    }
                }
            }
            Node::Group(_, node) => self.add(node, groups)?,
            Node::Reference { group, .. } => {
                if let Some(Some(node)) = groups.get(*group) {
                    self.add(node, groups)?;
                }
            }
            Node::Test(test) => {
                self.push(Op::Test(*test))?;
            }
            Node::Look { behind, negative, node } => {
                self.looks.push(Program::new(&[node], groups, *behind)?);
                let program = self.looks.len() - 1;
                self.push(Op::Look { program, negative: *negative })?;
            }
        }
        Ok(())
    }

    /// Adds a state and all states reachable from it without a character. Answers whether the end is among them.
    fn follow(&self, text: &Text<'_>, states: &mut States, from: usize, position: usize) -> Result<bool> {
        let mut open = vec![from];
        let mut matched = false;
        while let Some(at) = open.pop() {
            if !states.first(at) {
                continue;
            }
            match self.ops.get(at) {
                Some(Op::Set(_)) => states.list.push(at),
                Some(Op::Split(a, b)) => open.extend([*b, *a]),
                Some(Op::Jump(to)) => open.push(*to),
                Some(Op::Test(test)) => {
                    if text.holds(*test, position) {
                        open.push(at + 1);
                    }
                }
                Some(Op::Look { program, negative }) => {
                    let found = match self.looks.get(*program) {
                        Some(look) => look.finds(text, position)?,
                        None => false,
                    };
                    if found != *negative {
                        open.push(at + 1);
                    }
                }
                Some(Op::Match) | None => matched = true,
            }
        }
        Ok(matched)
    }

    /// Whether the automaton matches from a position on.
    fn finds(&self, text: &Text<'_>, position: usize) -> Result<bool> {
        let limit = if self.backwards { 0 } else { text.chars.len() };
        let mut found = false;
        self.run(text, position, limit, |_| {
            found = true;
            false
        })?;
        Ok(found)
    }

    /// Calls `tell` with each end of a match from `from`, up to `limit`, nearest first. A backwards automaton gives
    /// starts. Stops if `tell` returns true.
    fn run(&self, text: &Text<'_>, from: usize, limit: usize, mut tell: impl FnMut(usize) -> bool) -> Result<()> {
        let mut now = States::default();
        let mut next = States::default();
        now.clear(self.ops.len());
        let mut position = from;
        if self.follow(text, &mut now, 0, position)? && !tell(position) {
            return Ok(());
        }
        while position != limit && !now.list.is_empty() {
            text.spend(now.list.len())?;
            let (c, following) =
                if self.backwards { (text.before(position), position - 1) } else { (text.at(position), position + 1) };
            let Some(c) = c else { break };
            next.clear(self.ops.len());
            let mut matched = false;
            for at in &now.list {
                if let Some(Op::Set(set)) = self.ops.get(*at)
                    && self.sets.get(*set).is_some_and(|set| set.has(c))
                {
                    matched |= self.follow(text, &mut next, at + 1, following)?;
                }
            }
            position = following;
            if matched && !tell(position) {
                return Ok(());
            }
            std::mem::swap(&mut now, &mut next);
        }
        Ok(())
    }

    /// All ends of matches from `from`, nearest first. A backwards automaton gives starts.
    pub(super) fn ends(&self, text: &Text<'_>, from: usize, limit: usize) -> Result<Vec<usize>> {
        let mut ends = Vec::new();
        self.run(text, from, limit, |end| {
            ends.push(end);
            true
        })?;
        Ok(ends)
    }

    /// The nearest or farthest of [`Program::ends`].
    pub(super) fn end(&self, text: &Text<'_>, from: usize, farthest: bool) -> Result<Option<usize>> {
        let mut found = None;
        self.run(text, from, text.chars.len(), |end| {
            found = Some(end);
            farthest
        })?;
        Ok(found)
    }

    /// Whether the automaton matches exactly a part of the text.
    pub(super) fn fits(&self, text: &Text<'_>, from: usize, to: usize) -> Result<bool> {
        let mut fits = false;
        self.run(text, from, to, |end| {
            fits |= end == to;
            true
        })?;
        Ok(fits)
    }
}
