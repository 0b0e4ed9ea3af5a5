//! Random queries from a seed, over two small tables with every type in [`rules`]. Failing queries are reduced to
//! smaller ones that still differ. PostgreSQL's answer is the expected one.

pub mod joins;
pub mod nested;
pub mod relations;
pub mod rules;
pub mod windows;
pub mod writes;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rules::{AGGREGATES, ANY, RULES, Ty, WINDOWS};

/// An expression. Its text has `{}` for each operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    text: &'static str,
    ty: Ty,
    operands: Vec<Node>,
}

impl Node {
    fn leaf(text: &'static str, ty: Ty) -> Node {
        Node { text, ty, operands: Vec::new() }
    }

    /// Creates a random expression of at most `depth` levels.
    pub fn random(random: &mut StdRng, ty: Ty, depth: usize) -> Node {
        let leaf = depth == 0 || random.random_bool(0.15);
        if leaf {
            let texts = if random.random_bool(0.7) { ty.columns() } else { ty.values() };
            return Node::leaf(texts.choose(random).expect("a text"), ty);
        }
        if random.random_bool(0.15) {
            let (text, types) = ANY.choose(random).expect("a rule");
            let operands = types.iter().map(|other| Node::random(random, other.unwrap_or(ty), depth - 1)).collect();
            return Node { text, ty, operands };
        }
        let rules: Vec<_> = RULES.iter().filter(|(result, ..)| *result == ty).collect();
        let (_, text, types) = rules.choose(random).expect("a rule");
        let operands = types.iter().map(|other| Node::random(random, *other, depth - 1)).collect();
        Node { text, ty, operands }
    }

    /// SQL text of the expression.
    pub fn sql(&self) -> String {
        if self.operands.is_empty() {
            return self.text.to_string();
        }
        let mut operands = self.operands.iter();
        let mut parts = self.text.split("{}");
        let mut sql = parts.next().unwrap_or_default().to_string();
        for part in parts {
            sql.push_str(&operands.next().expect("an operand").sql());
            sql.push_str(part);
        }
        sql
    }

    /// Expressions of the same type that are one step smaller.
    fn smaller(&self) -> Vec<Node> {
        let mut found: Vec<Node> = self.operands.iter().filter(|node| node.ty == self.ty).cloned().collect();
        if !self.operands.is_empty() {
            found.extend(self.ty.columns().iter().chain(self.ty.values()).map(|text| Node::leaf(text, self.ty)));
        }
        for (place, operand) in self.operands.iter().enumerate() {
            for less in operand.smaller() {
                let mut node = self.clone();
                node.operands[place] = less;
                found.push(node);
            }
        }
        found
    }
}

/// A random query over the test tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Expressions over each row.
    #[allow(missing_docs)]
    Rows { items: Vec<Node>, condition: Option<Node> },
    /// Aggregates over groups.
    #[allow(missing_docs)]
    Groups { key: Option<Node>, items: Vec<(&'static str, Node)>, condition: Option<Node> },
    /// Window functions over the rows.
    #[allow(missing_docs)]
    Windows { items: Vec<(&'static str, Node)>, condition: Option<Node> },
    /// A join of both tables.
    #[allow(missing_docs)]
    Join { kind: &'static str, on: Node, items: Vec<Node> },
    /// A set operation on two queries.
    #[allow(missing_docs)]
    Sets { operator: &'static str, left: Node, right: Node },
}

impl Query {
    /// The query of a seed.
    pub fn random(seed: u64) -> Query {
        let mut random = StdRng::seed_from_u64(seed);
        let random = &mut random;
        let any = |random: &mut StdRng| *Ty::ALL.choose(random).expect("a type");
        let expr = |random: &mut StdRng, depth| {
            let ty = any(random);
            Node::random(random, ty, depth)
        };
        let condition = |random: &mut StdRng| random.random_bool(0.5).then(|| Node::random(random, Ty::Bool, 3));
        let calls = |random: &mut StdRng, of: &[(&'static str, Ty)]| {
            let count = random.random_range(1..4);
            let call = |random: &mut StdRng| {
                let (text, ty) = of.choose(random).expect("a call");
                (*text, Node::random(random, *ty, 2))
            };
            (0..count).map(|_| call(random)).collect()
        };
        match random.random_range(0..10) {
            0..5 => {
                let count = random.random_range(1..4);
                Query::Rows { items: (0..count).map(|_| expr(random, 4)).collect(), condition: condition(random) }
            }
            5 | 6 => Query::Groups {
                key: random.random_bool(0.7).then(|| expr(random, 2)),
                items: calls(random, AGGREGATES),
                condition: condition(random),
            },
            7 => Query::Windows { items: calls(random, WINDOWS), condition: condition(random) },
            8 => Query::Join {
                kind: ["join", "left join", "right join"].choose(random).expect("a kind"),
                on: Node { text: "small.k = {}", ty: Ty::Bool, operands: vec![Node::random(random, Ty::Int4, 2)] },
                items: vec![expr(random, 2)],
            },
            _ => {
                let ty = any(random);
                Query::Sets {
                    operator: ["union", "union all", "intersect", "except", "except all", "intersect all"]
                        .choose(random)
                        .expect("an operator"),
                    left: Node::random(random, ty, 2),
                    right: Node::random(random, ty, 2),
                }
            }
        }
    }

    /// SQL text of the query, with a deterministic order of the rows.
    pub fn sql(&self) -> String {
        let list = |items: &[Node]| items.iter().map(Node::sql).collect::<Vec<_>>().join(", ");
        let calls = |items: &[(&str, Node)]| {
            items.iter().map(|(text, node)| text.replace("{}", &node.sql())).collect::<Vec<_>>().join(", ")
        };
        let filter = |condition: &Option<Node>| {
            condition.as_ref().map_or(String::new(), |condition| format!(" where {}", condition.sql()))
        };
        match self {
            Query::Rows { items, condition } => {
                format!("select {} from big{} order by id", list(items), filter(condition))
            }
            Query::Groups { key: None, items, condition } => {
                format!("select {} from big{}", calls(items), filter(condition))
            }
            Query::Groups { key: Some(key), items, condition } => {
                let key = key.sql();
                // Equal numerics and intervals can have more than one text form.
                format!(
                    "select count(*), {} from big{} group by {key} order by min(id)",
                    calls(items),
                    filter(condition)
                )
            }
            Query::Windows { items, condition } => {
                format!("select {} from big{} order by id", calls(items), filter(condition))
            }
            Query::Join { kind, on, items } => {
                format!("select id, k, {} from big {kind} small on {} order by id, k, w", list(items), on.sql())
            }
            Query::Sets { operator, left, right } => {
                let (left, right) = (left.sql(), right.sql());
                format!("select count(*) from (select {left} from big {operator} select {right} from big) x")
            }
        }
    }

    /// Whether servers may legitimately differ in the errors that they raise. Conditions choose the evaluated rows;
    /// AND, OR and lists choose the evaluated operands.
    pub fn order_matters(&self) -> bool {
        let sql = self.sql();
        !matches!(self, Query::Rows { condition: None, .. })
            || [" and ", " or ", " in (", "coalesce", "exists", " all (", "between"]
                .iter()
                .any(|word| sql.contains(word))
    }

    /// Queries that are one step smaller.
    pub fn smaller(&self) -> Vec<Query> {
        let mut found = Vec::new();
        match self {
            Query::Rows { items, condition } => {
                if items.len() > 1 {
                    found.extend(
                        items
                            .iter()
                            .map(|item| Query::Rows { items: vec![item.clone()], condition: condition.clone() }),
                    );
                }
                if condition.is_some() {
                    found.push(Query::Rows { items: items.clone(), condition: None });
                }
                let operands = items.iter().flat_map(|item| &item.operands);
                found.extend(
                    operands.map(|node| Query::Rows { items: vec![node.clone()], condition: condition.clone() }),
                );
                for (place, item) in items.iter().enumerate() {
                    for less in item.smaller() {
                        let mut items = items.clone();
                        items[place] = less;
                        found.push(Query::Rows { items, condition: condition.clone() });
                    }
                }
                for less in condition.iter().flat_map(Node::smaller) {
                    found.push(Query::Rows { items: items.clone(), condition: Some(less) });
                }
            }
            Query::Groups { key, items, condition } => {
                let make = |key: &Option<Node>, items: Vec<(&'static str, Node)>, condition: &Option<Node>| {
                    Query::Groups { key: key.clone(), items, condition: condition.clone() }
                };
                found.extend(fewer(items).into_iter().map(|items| make(key, items, condition)));
                if condition.is_some() {
                    found.push(make(key, items.clone(), &None));
                }
                if key.is_some() {
                    found.push(make(&None, items.clone(), condition));
                }
                found.extend(key.iter().flat_map(Node::smaller).map(|key| make(&Some(key), items.clone(), condition)));
                found
                    .extend(condition.iter().flat_map(Node::smaller).map(|less| make(key, items.clone(), &Some(less))));
            }
            Query::Windows { items, condition } => {
                let make = |items, condition: &Option<Node>| Query::Windows { items, condition: condition.clone() };
                found.extend(fewer(items).into_iter().map(|items| make(items, condition)));
                if condition.is_some() {
                    found.push(make(items.clone(), &None));
                }
                found.extend(condition.iter().flat_map(Node::smaller).map(|less| make(items.clone(), &Some(less))));
            }
            Query::Join { kind, on, items } => {
                for less in on.smaller().into_iter().filter(|less| less.text == on.text) {
                    found.push(Query::Join { kind, on: less, items: items.clone() });
                }
                for less in items.iter().flat_map(Node::smaller) {
                    found.push(Query::Join { kind, on: on.clone(), items: vec![less] });
                }
            }
            Query::Sets { operator, left, right } => {
                for less in left.smaller() {
                    found.push(Query::Sets { operator, left: less, right: right.clone() });
                }
                for less in right.smaller() {
                    found.push(Query::Sets { operator, left: left.clone(), right: less });
                }
            }
        }
        found
    }
}

/// Lists with a single call each, and lists with one smaller argument.
fn fewer(items: &[(&'static str, Node)]) -> Vec<Vec<(&'static str, Node)>> {
    let mut found = Vec::new();
    if items.len() > 1 {
        found.extend(items.iter().map(|item| vec![item.clone()]));
    }
    for (place, (text, node)) in items.iter().enumerate() {
        for less in node.smaller() {
            let mut items = items.to_vec();
            items[place] = (text, less);
            found.push(items);
        }
    }
    found
}
