//! [`Plan`]: how a match is divided among the parts of its pattern. Each part in turn takes the longest or shortest
//! piece that lets the rest match. PostgreSQL's library, by Henry Spencer, does the same.

use super::class::other_cases;
use super::program::{Program, Text};
use super::tree::Node;
use sql_error::Result;
use std::collections::HashSet;

/// Character ranges of groups; the first is the whole match.
pub(super) type Places = Vec<Option<(usize, usize)>>;

/// A prepared part of a pattern.
pub(super) enum Plan {
    /// A part without any division.
    Whole,
    Group(usize, Box<Plan>),
    Reference {
        group: usize,
        insensitive: bool,
    },
    /// A sequence of parts. `rests` match backwards the rest behind each part.
    Row {
        units: Vec<Unit>,
        rests: Vec<Program>,
    },
    Alternate(Vec<Unit>),
    Iterate {
        unit: Box<Unit>,
        min: u32,
        max: Option<u32>,
        references: bool,
    },
}

/// A part with its automaton and preference.
pub(super) struct Unit {
    plan: Plan,
    program: Program,
    greedy: bool,
    groups: Vec<usize>,
}

fn groups_of(node: &Node, out: &mut Vec<usize>) {
    match node {
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().for_each(|node| groups_of(node, out)),
        Node::Repeat { node, .. } => groups_of(node, out),
        Node::Group(number, node) => {
            out.push(*number);
            groups_of(node, out);
        }
        _ => {}
    }
}

impl Unit {
    fn new(nodes: &[Node], groups: &[Option<Node>], greedy: bool) -> Result<Unit> {
        let refs: Vec<&Node> = nodes.iter().collect();
        let mut inside = Vec::new();
        nodes.iter().for_each(|node| groups_of(node, &mut inside));
        let plan = match nodes {
            [node] => Plan::new(node, groups)?,
            _ => Plan::Whole,
        };
        Ok(Unit { plan, program: Program::new(&refs, groups, false)?, greedy, groups: inside })
    }
}

impl Plan {
    /// Prepares a part. `groups` holds the patterns that back references refer to.
    pub(super) fn new(node: &Node, groups: &[Option<Node>]) -> Result<Plan> {
        let traits = node.traits();
        if !traits.groups && !traits.references {
            return Ok(Plan::Whole);
        }
        Ok(match node {
            Node::Group(number, inner) => Plan::Group(*number, Box::new(Plan::new(inner, groups)?)),
            Node::Reference { group, insensitive } => Plan::Reference { group: *group, insensitive: *insensitive },
            Node::Alternate(nodes) => Plan::Alternate(
                nodes
                    .iter()
                    .map(|node| Unit::new(std::slice::from_ref(node), groups, node.greedy().unwrap_or(true)))
                    .collect::<Result<_>>()?,
            ),
            Node::Concat(nodes) => Plan::row(units(nodes), groups)?,
            Node::Repeat { node: inner, min: 1, max: Some(1), .. } => Plan::new(inner, groups)?,
            // A group keeps only its last repetition.
            Node::Repeat { node: inner, min, max, greedy } if *min > 0 && !inner.traits().references => {
                let before =
                    Node::Repeat { node: inner.clone(), min: min - 1, max: max.map(|max| max - 1), greedy: *greedy };
                let preferred = node.greedy().unwrap_or(true);
                let part = |node: Node, whole| Part { nodes: vec![node], greedy: preferred, whole };
                Plan::row(vec![part(before, true), part(inner.as_ref().clone(), false)], groups)?
            }
            Node::Repeat { node: inner, min, max, .. } => {
                let unit = Unit::new(std::slice::from_ref(inner), groups, node.greedy().unwrap_or(true))?;
                let references = inner.traits().references;
                Plan::Iterate { unit: Box::new(unit), min: *min, max: *max, references }
            }
            _ => Plan::Whole,
        })
    }

    fn row(parts: Vec<Part>, groups: &[Option<Node>]) -> Result<Plan> {
        let mut units = Vec::new();
        let mut rests = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let mut unit = Unit::new(&part.nodes, groups, part.greedy)?;
            if part.whole {
                unit.plan = Plan::Whole;
                unit.groups.clear();
            }
            units.push(unit);
            let rest: Vec<&Node> = parts.iter().skip(at + 1).flat_map(|part| &part.nodes).collect();
            rests.push(Program::new(&rest, groups, true)?);
        }
        Ok(Plan::Row { units, rests })
    }
}

/// Consecutive nodes that are matched together. With `whole`, their groups do not count.
struct Part {
    nodes: Vec<Node>,
    greedy: bool,
    whole: bool,
}

/// Splits a sequence into parts. Nodes that need no division are joined.
fn units(nodes: &[Node]) -> Vec<Part> {
    let mut units: Vec<Part> = Vec::new();
    let mut run: Vec<Node> = Vec::new();
    let finish = |run: &mut Vec<Node>, units: &mut Vec<Part>| {
        if !run.is_empty() {
            let greedy = run.iter().find_map(Node::greedy).unwrap_or(true);
            units.push(Part { nodes: std::mem::take(run), greedy, whole: false });
        }
    };
    for node in nodes {
        let joined = Node::Concat(run.iter().cloned().chain([node.clone()]).collect());
        if node.traits().messy() || joined.traits().messy() {
            finish(&mut run, &mut units);
            units.push(Part { nodes: vec![node.clone()], greedy: node.greedy().unwrap_or(true), whole: false });
        } else {
            run.push(node.clone());
        }
    }
    finish(&mut run, &mut units);
    units
}

/// A match that is being divided.
pub(super) struct Dissection<'t, 'p> {
    pub text: &'t Text<'t>,
    pub places: &'p mut Places,
}

impl Dissection<'_, '_> {
    fn forget(&mut self, groups: &[usize]) {
        for group in groups {
            if let Some(place) = self.places.get_mut(*group) {
                *place = None;
            }
        }
    }

    /// Divides a piece of text that the part's automaton matches. False if the back references do not match.
    pub(super) fn divide(&mut self, plan: &Plan, from: usize, to: usize) -> Result<bool> {
        match plan {
            Plan::Whole => Ok(true),
            Plan::Group(number, inner) => {
                if !self.divide(inner, from, to)? {
                    return Ok(false);
                }
                if let Some(place) = self.places.get_mut(*number) {
                    *place = Some((from, to));
                }
                Ok(true)
            }
            Plan::Reference { group, insensitive } => self.repeats(*group, *insensitive, from, to),
            Plan::Row { units, rests } => self.row(units, rests, from, to),
            Plan::Alternate(units) => {
                for unit in units {
                    if unit.program.fits(self.text, from, to)? {
                        if self.divide(&unit.plan, from, to)? {
                            return Ok(true);
                        }
                        self.forget(&unit.groups);
                    }
                }
                Ok(false)
            }
            Plan::Iterate { unit, min, max, references } => {
                self.forget(&unit.groups);
                if from == to && *min == 0 {
                    return Ok(true);
                }
                let bounds = (*min.max(&1), max.unwrap_or(u32::MAX));
                self.iterate(unit, bounds, *references, (from, to))
            }
        }
    }

    fn repeats(&self, group: usize, insensitive: bool, from: usize, to: usize) -> Result<bool> {
        let Some(Some((start, end))) = self.places.get(group).copied() else { return Ok(false) };
        let (Some(held), Some(piece)) = (self.text.chars.get(start..end), self.text.chars.get(from..to)) else {
            return Ok(false);
        };
        if held.len() != piece.len() {
            return Ok(false);
        }
        self.text.spend(held.len() / 16)?;
        let same = |(a, b): (&char, &char)| a == b || insensitive && other_cases(*a, self.text.ctype).any(|c| c == *b);
        Ok(held.iter().zip(piece).all(same))
    }

    fn row(&mut self, units: &[Unit], rests: &[Program], from: usize, to: usize) -> Result<bool> {
        let ([unit, other_units @ ..], [rest, other_rests @ ..]) = (units, rests) else {
            return Ok(from == to);
        };
        if other_units.is_empty() {
            return self.divide(&unit.plan, from, to);
        }
        let mut ends = unit.program.ends(self.text, from, to)?;
        let fitting: HashSet<usize> = rest.ends(self.text, to, from)?.into_iter().collect();
        ends.retain(|end| fitting.contains(end));
        if unit.greedy {
            ends.reverse();
        }
        for end in ends {
            if self.divide(&unit.plan, from, end)? && self.row(other_units, other_rests, end, to)? {
                return Ok(true);
            }
            for unit in units {
                self.forget(&unit.groups);
            }
        }
        Ok(false)
    }

    /// The ends of one more repetition, preferred first. Empty repetitions count only toward the minimum.
    fn repetitions(&self, unit: &Unit, from: usize, to: usize, empty: bool) -> Result<std::vec::IntoIter<usize>> {
        let mut ends = unit.program.ends(self.text, from, to)?;
        ends.retain(|end| *end > from || empty);
        if unit.greedy {
            ends.reverse();
        }
        Ok(ends.into_iter())
    }

    /// Divides a piece among repetitions.
    fn iterate(
        &mut self,
        unit: &Unit,
        (min, max): (u32, u32),
        references: bool,
        (from, to): (usize, usize),
    ) -> Result<bool> {
        // Positions and repetition counts from which the rest cannot be divided.
        let mut dead: HashSet<(usize, u32)> = HashSet::new();
        let mut open = vec![(from, self.repetitions(unit, from, to, min > 1)?)];
        loop {
            let done = open.len() as u32;
            let Some((at, ends)) = open.last_mut() else { return Ok(false) };
            let at = *at;
            let Some(end) = ends.next() else {
                // With references, a group's contents may make the same position match later.
                if !references {
                    dead.insert((at, done));
                }
                open.pop();
                continue;
            };
            let last = end == to && done >= min;
            if !last && (done >= max || dead.contains(&(end, done + 1))) {
                continue;
            }
            if last || references {
                self.forget(&unit.groups);
                if !self.divide(&unit.plan, at, end)? {
                    continue;
                }
            }
            if last {
                return Ok(true);
            }
            open.push((end, self.repetitions(unit, end, to, done + 1 < min)?));
        }
    }
}
