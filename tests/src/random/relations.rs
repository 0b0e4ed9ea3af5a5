//! Random FROM clauses over two to five small relations: joins of every kind, ON true, NATURAL, USING, parentheses and
//! LATERAL. Conditions refer to any relation in scope. Failing queries are reduced to smaller ones that still differ.
//! PostgreSQL's answer is the expected one.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// The tables are so small that a product of five has few rows. They share column names for NATURAL and USING.
pub const TABLES: &str = "
    create table m0 (id int primary key, k int, i int) with (autovacuum_enabled = off);
    create table m1 (id int, n int, k int, primary key (id, n)) with (autovacuum_enabled = off);
    create table m2 (id int primary key, k int not null, n int) with (autovacuum_enabled = off);
    create table m3 (k bigint, n int) with (autovacuum_enabled = off);
    create index on m2 (k);
    create index on m3 (n, k);
    insert into m0 select g, g % 3, nullif(g % 4, 0) from generate_series(1, 7) g;
    insert into m1 select g, h, nullif(g * h, 4) from generate_series(1, 4) g, generate_series(1, 2) h;
    insert into m2 select g, g % 4, case when g <> 3 then g - 2 end from generate_series(0, 6) g;
    insert into m3 select nullif(g % 5, 2), g % 3 from generate_series(1, 6) g";

/// The columns of each table.
const COLUMNS: [&[&str]; 4] = [&["id", "k", "i"], &["id", "n", "k"], &["id", "k", "n"], &["k", "n"]];
/// The columns of a subquery or function in FROM.
const DERIVED: &[&str] = &["k", "n"];

/// An item of a FROM clause.
#[derive(Clone, Debug)]
enum Part {
    /// A relation with its alias.
    Relation(String),
    Join {
        left: Box<Part>,
        right: Box<Part>,
        /// Join kind, such as `cross join` or `natural left join`.
        kind: &'static str,
        /// Columns of USING.
        using: Vec<&'static str>,
        /// Conditions of ON if there is no USING. An empty list means ON true.
        on: Vec<String>,
    },
}

/// A relation in scope of a condition.
#[derive(Clone, Debug)]
struct Seen {
    alias: String,
    columns: &'static [&'static str],
}

/// A FROM item, its relations, and its column names. Columns of USING and NATURAL appear once.
struct Made {
    part: Part,
    relations: Vec<Seen>,
    visible: Vec<&'static str>,
}

/// A random query with its FROM clause.
#[derive(Clone, Debug)]
pub struct Query {
    from: Vec<Part>,
    conditions: Vec<String>,
    shown: Vec<String>,
    /// ORDER BY all columns, and a LIMIT.
    tail: String,
}

struct Maker<'a> {
    random: &'a mut StdRng,
    count: usize,
    most: usize,
}

fn one<T: Clone>(random: &mut StdRng, of: &[T]) -> T {
    of.choose(random).expect("one of them").clone()
}

fn value(random: &mut StdRng, of: &[Seen]) -> String {
    let relation = one(random, of);
    format!("{}.{}", relation.alias, one(random, relation.columns))
}

/// A random condition over some relations.
fn condition(random: &mut StdRng, of: &[Seen]) -> String {
    let [a, b, c, d] = std::array::from_fn(|_| value(random, of));
    match random.random_range(0..22) {
        0..7 => format!("{a} = {b}"),
        7 | 8 => format!("{a} = {b} + {c}"),
        9 => format!("{a} + {b} = {c} + {d}"),
        10 => format!("{a} - {b} < {c}"),
        11 => format!("{a} {} {b}", one(random, &["<", "<>", ">="])),
        12 => format!("({a} = {b} or {c} = {d})"),
        13 => format!("({a} = {b} and {c} > 1 or {a} = {b} and {d} < 2)"),
        14 => format!("{a} in ({b}, {c}, 3)"),
        15 => format!("{a} between {b} and {c}"),
        16 => format!("coalesce({a}, {b}) = {c}"),
        17 => format!("{a} is not distinct from {b}"),
        18 => format!("{a} is {}null", one(random, &["", "not "])),
        19 => format!("{}exists (select from m1 where m1.k = {a} and m1.id < {b})", one(random, &["", "not "])),
        20 => format!("{a} {} (select m3.k from m3 where m3.n = {b})", one(random, &["in", "not in"])),
        _ => format!("{a} = {}", random.random_range(0..4)),
    }
}

fn conditions(random: &mut StdRng, of: &[Seen], most: usize) -> Vec<String> {
    let count = random.random_range(0..=most);
    (0..count).map(|_| condition(random, of)).collect()
}

impl Maker<'_> {
    fn alias(&mut self) -> String {
        self.count += 1;
        format!("r{}", self.count - 1)
    }

    fn table(&mut self) -> Made {
        let (table, alias) = (self.random.random_range(0..COLUMNS.len()), self.alias());
        let columns = COLUMNS.get(table).expect("a table");
        let part = Part::Relation(format!("m{table} {alias}"));
        Made { part, relations: vec![Seen { alias, columns }], visible: columns.to_vec() }
    }

    /// A LATERAL item that refers to the relations on its left, if there are any.
    fn lateral(&mut self, seen: &[Seen]) -> Made {
        let alias = self.alias();
        let inner = Seen { alias: "q".into(), columns: &["k", "n"] };
        let both: Vec<Seen> = seen.iter().cloned().chain([inner.clone()]).collect();
        let table = one(self.random, &["m1", "m2", "m3"]);
        let random = &mut *self.random;
        let filter = |random: &mut StdRng| {
            let all = conditions(random, &both, 2);
            if all.is_empty() { String::new() } else { format!(" where {}", all.join(" and ")) }
        };
        let (one, two) = (value(random, &both), value(random, &both));
        let text = match random.random_range(0..6) {
            0 => format!("lateral (select {one} + q.n as k, {two} as n from {table} q{})", filter(random)),
            1 => format!("lateral (select count(*) as k, max({one}) as n from {table} q{})", filter(random)),
            2 => format!("lateral (select q.k, sum({one}) as n from {table} q{} group by q.k)", filter(random)),
            3 => {
                let limit = random.random_range(1..3);
                format!("lateral (select q.k, q.n from {table} q{} order by q.k, q.n limit {limit})", filter(random))
            }
            4 if !seen.is_empty() => {
                let start = value(random, seen);
                return self.function(alias, format!("generate_series({start}, 2)"));
            }
            _ => format!("lateral (select q.k, q.n from {table} q{})", filter(random)),
        };
        let part = Part::Relation(format!("{text} {alias}"));
        Made { part, relations: vec![Seen { alias, columns: DERIVED }], visible: DERIVED.to_vec() }
    }

    fn function(&mut self, alias: String, call: String) -> Made {
        let columns: &[&str] = &["k"];
        let part = Part::Relation(format!("{call} {alias}(k)"));
        Made { part, relations: vec![Seen { alias, columns }], visible: columns.to_vec() }
    }

    /// A relation, or joins in parentheses. `seen` holds the relations in scope of a LATERAL item.
    fn primary(&mut self, depth: usize, seen: Option<&[Seen]>) -> Made {
        match (self.random.random_range(0..10), seen) {
            (0 | 1, Some(seen)) => self.lateral(seen),
            (2..5, _) if depth > 0 && self.count + 1 < self.most => self.item(depth - 1, seen.unwrap_or_default()),
            (5, _) => {
                let alias = self.alias();
                let part = Part::Relation(format!("(values (0, 1), (2, null), (null, 2), (1, 1)) {alias}(k, n)"));
                Made { part, relations: vec![Seen { alias, columns: DERIVED }], visible: DERIVED.to_vec() }
            }
            _ => self.table(),
        }
    }

    /// Relations that are joined one after the other.
    fn item(&mut self, depth: usize, around: &[Seen]) -> Made {
        let mut made = self.primary(depth, if around.is_empty() { None } else { Some(around) });
        while self.count < self.most && self.random.random_bool(0.75) {
            made = self.joined(made, depth, around);
        }
        made
    }

    fn joined(&mut self, left: Made, depth: usize, around: &[Seen]) -> Made {
        let kinds = ["join", "join", "join", "left join", "left join", "right join", "full join", "cross join"];
        let kind = one(self.random, &kinds);
        let seen: Vec<Seen> = around.iter().chain(&left.relations).cloned().collect();
        let sees = !matches!(kind, "right join" | "full join");
        let right = self.primary(depth, sees.then_some(&seen));
        let relations: Vec<Seen> = left.relations.iter().chain(&right.relations).cloned().collect();
        let single = |of: &Made, name: &str| of.visible.iter().filter(|other| **other == name).count() == 1;
        let known = |of: &Made, name: &str| of.visible.contains(&name);
        let both: Vec<&'static str> = left.visible.iter().copied().filter(|name| known(&right, name)).collect();
        let usable: Vec<&'static str> =
            ["k", "n", "id"].into_iter().filter(|name| single(&left, name) && single(&right, name)).collect();
        let natural = both.iter().all(|name| single(&left, name) && single(&right, name)) && !both.is_empty();
        let random = &mut *self.random;
        let (mut kind, mut using, mut on) = (kind, Vec::new(), Vec::new());
        match random.random_range(0..10) {
            _ if kind == "cross join" => {}
            0 if natural => {
                kind = match kind {
                    "left join" => "natural left join",
                    "right join" => "natural right join",
                    "full join" => "natural full join",
                    _ => "natural join",
                };
                using = both;
            }
            1 | 2 if !usable.is_empty() => {
                using = usable;
                let count = random.random_range(1..=using.len());
                using.truncate(count);
            }
            3 => {}
            _ if kind == "full join" => {
                // PostgreSQL supports only such conditions for full joins.
                on.push(format!("{} = {}", value(random, &left.relations), value(random, &right.relations)));
                // PercoSQL answers 0A000 to a subquery over both sides here.
                on.extend(conditions(random, &relations, 1).into_iter().filter(|text| !text.contains("select")));
            }
            _ => on = conditions(random, &relations, 3),
        }
        let mut visible = using.clone();
        let merged = |name: &&'static str| !using.contains(name);
        visible.extend(left.visible.iter().copied().filter(merged));
        visible.extend(right.visible.iter().copied().filter(merged));
        if kind.starts_with("natural") {
            using.clear();
        }
        let part = Part::Join { left: Box::new(left.part), right: Box::new(right.part), kind, using, on };
        Made { part, relations, visible }
    }
}

impl Part {
    fn sql(&self, bracketed: bool) -> String {
        let Part::Join { left, right, kind, using, on } = self else {
            let Part::Relation(text) = self else { return String::new() };
            return text.clone();
        };
        let condition = match (using.is_empty(), on.is_empty()) {
            _ if kind.starts_with("natural") || *kind == "cross join" => String::new(),
            (false, _) => format!(" using ({})", using.join(", ")),
            (true, true) => " on true".into(),
            (true, false) => format!(" on {}", on.join(" and ")),
        };
        let text = format!("{} {kind} {}{condition}", left.sql(false), right.sql(true));
        if bracketed { format!("({text})") } else { text }
    }

    fn smaller(&self) -> Vec<Part> {
        let Part::Join { left, right, kind, using, on } = self else { return Vec::new() };
        let mut found = vec![left.as_ref().clone(), right.as_ref().clone()];
        let with = |left: &Part, right: &Part, kind: &'static str, on: Vec<String>| Part::Join {
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            kind,
            using: using.clone(),
            on,
        };
        for place in 0..on.len() {
            let mut fewer = on.clone();
            fewer.remove(place);
            found.push(with(left, right, kind, fewer));
        }
        found.extend(left.smaller().iter().map(|less| with(less, right, kind, on.clone())));
        found.extend(right.smaller().iter().map(|less| with(left, less, kind, on.clone())));
        if !matches!(*kind, "join" | "cross join") && !kind.starts_with("natural") {
            found.push(with(left, right, "join", on.clone()));
        }
        found
    }
}

impl Query {
    /// The query of a seed.
    pub fn random(seed: u64) -> Query {
        let mut random = StdRng::seed_from_u64(seed);
        let most = one(&mut random, &[2, 3, 3, 4, 4, 5]);
        let mut maker = Maker { random: &mut random, count: 0, most };
        let (mut from, mut relations, mut visible) = (Vec::new(), Vec::new(), Vec::new());
        while from.is_empty() || maker.count < most {
            // Items after a comma: LATERAL items refer to earlier items.
            let made = maker.item(2, &relations);
            from.push(made.part);
            relations.extend(made.relations);
            visible.extend(made.visible);
        }
        let random = maker.random;
        let conditions = conditions(random, &relations, 3);
        if random.random_bool(0.3) {
            let order: Vec<String> = (1..=visible.len()).map(|place| place.to_string()).collect();
            let tail = format!(" order by {} limit 40", order.join(", "));
            return Query { from, conditions, shown: vec!["*".into()], tail };
        }
        let mut shown = vec!["count(*)".to_string()];
        for relation in &relations {
            let column = format!("{}.{}", relation.alias, one(random, relation.columns));
            shown.push(format!("sum({column})"));
        }
        let factors: Vec<String> = relations
            .iter()
            .map(|relation| format!("coalesce({}.{}, 7)", relation.alias, one(random, relation.columns)))
            .collect();
        shown.push(format!("sum({})", factors.join("::int8 * 3 + ")));
        if random.random_bool(0.3) {
            shown.push(format!("count({})", one(random, &relations).alias));
        }
        let single = |name: &&&str| visible.iter().filter(|other| *other == *name).count() == 1;
        if let Some(name) = visible.iter().find(single) {
            shown.push(format!("sum({name})"));
        }
        Query { from, conditions, shown, tail: String::new() }
    }

    /// SQL text of the query, with a deterministic order of the rows.
    pub fn sql(&self) -> String {
        let from: Vec<String> = self.from.iter().map(|part| part.sql(false)).collect();
        let conditions = match self.conditions.as_slice() {
            [] => String::new(),
            all => format!(" where {}", all.join(" and ")),
        };
        format!("select {} from {}{conditions}{}", self.shown.join(", "), from.join(", "), self.tail)
    }

    /// Queries that are one step smaller. Some of them name removed relations; both servers refuse these.
    pub fn smaller(&self) -> Vec<Query> {
        let mut found = Vec::new();
        if !self.tail.is_empty() {
            found.push(Query { shown: vec!["count(*)".into()], tail: String::new(), ..self.clone() });
        }
        let places = |count: usize| if count > 1 { 0..count } else { 0..0 };
        for place in places(self.from.len()) {
            let mut less = self.clone();
            less.from.remove(place);
            found.push(less);
        }
        for place in places(self.shown.len()) {
            let mut less = self.clone();
            less.shown.remove(place);
            found.push(less);
        }
        for place in 0..self.conditions.len() {
            let mut less = self.clone();
            less.conditions.remove(place);
            found.push(less);
        }
        for (place, part) in self.from.iter().enumerate() {
            for smaller in part.smaller() {
                let mut less = self.clone();
                less.from[place] = smaller;
                found.push(less);
            }
        }
        found
    }
}
