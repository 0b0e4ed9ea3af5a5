//! Random window functions: several frames over several orders in one query, in subqueries, LATERAL and DISTINCT, with
//! LIMIT. Frames that count rows use an order that is unique per row. Failing queries are reduced to smaller ones that
//! still differ. PostgreSQL's answer is the expected one.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// Rows with few distinct values and with NULLs.
pub const TABLES: &str = "
    create table w (id int primary key, a int, f float8, n numeric, t text, d date, c bool) with (autovacuum_enabled = off);
    insert into w select g, g % 4, nullif(g % 5, 2) / 2.0, g % 3 + 0.5, case when g % 7 > 0 then 't' || g % 3 end,
      date '2024-02-27' + g % 4, nullif(g % 3, 1) = 0 from generate_series(1, 13) g";

/// Calls whose result does not depend on the order of a frame's rows.
const UNORDERED: [&str; 14] = [
    "count(*)",
    "count(t)",
    "sum(a)",
    "min(n)",
    "max(t)",
    "avg(f)",
    "every(c)",
    "bool_or(c)",
    "bit_or(a)",
    "count(*) filter (where a > 1)",
    "sum(n) filter (where c)",
    "sum(id::numeric)",
    "sum(a::int8)",
    "max(f)",
];
/// Rank functions, whose result depends only on the peer groups.
const RANKS: [&str; 4] = ["rank()", "dense_rank()", "percent_rank()", "cume_dist()"];
/// Calls that number rows or select one row.
const ORDERED: [&str; 11] = [
    "row_number()",
    "lag(a)",
    "lead(t, 2)",
    "lag(id, 1, 0)",
    "lead(n, a)",
    "ntile(3)",
    "first_value(id)",
    "last_value(t)",
    "nth_value(a, 2)",
    "array_agg(id)",
    "string_agg(t, ',')",
];

/// One call with its window.
#[derive(Clone, Debug)]
struct Call {
    function: String,
    partition: &'static str,
    order: String,
    frame: String,
}

impl Call {
    fn sql(&self) -> String {
        let parts = [self.partition, &self.order, &self.frame];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} over ({})", self.function, parts.join(" "))
    }
}

/// The clause that contains the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    List,
    Distinct,
    OrderBy,
    Subquery,
    Lateral,
    Grouped,
    Correlated,
}

/// A random query with window functions.
#[derive(Clone, Debug)]
pub struct Query {
    calls: Vec<Call>,
    place: Place,
    condition: &'static str,
    limit: &'static str,
}

fn one<T: Clone>(random: &mut StdRng, of: &[T]) -> T {
    of.choose(random).expect("one of them").clone()
}

/// The start and the end of a frame. Its offsets come from `offsets`.
fn bounds(random: &mut StdRng, offsets: &[&str]) -> String {
    let bounds = |random: &mut StdRng| match random.random_range(0..4) {
        0 => (0, "unbounded preceding".to_string()),
        1 => (1, format!("{} preceding", one(random, offsets))),
        2 => (2, "current row".to_string()),
        _ => (3, format!("{} following", one(random, offsets))),
    };
    let start = bounds(random);
    if start.0 < 3 && random.random_bool(0.3) {
        return start.1;
    }
    let end = loop {
        let (at, text) = if random.random_bool(0.2) { (4, "unbounded following".into()) } else { bounds(random) };
        if at >= start.0 && at > 0 {
            break text;
        }
    };
    format!("between {} and {end}", start.1)
}

impl Call {
    fn random(random: &mut StdRng) -> Call {
        let partition = one(random, &["", "", "partition by c", "partition by a % 2", "partition by t, c"]);
        let direction = one(random, &["", " desc", " nulls first", " desc nulls last"]);
        let exclude = one(random, &["", "", "", " exclude current row", " exclude group", " exclude ties"]);
        let key = one(random, &["a", "f", "n", "d", "id"]);
        let unordered = one(random, &UNORDERED).to_string();
        let call = |function: String, order: String, frame: String| Call { function, partition, order, frame };
        match random.random_range(0..10) {
            0 => call(one(random, &RANKS).into(), format!("order by {key}{direction}"), String::new()),
            1 => call(unordered, String::new(), String::new()),
            2 => call(unordered, format!("order by {key}{direction}"), String::new()),
            3 | 4 => {
                let offsets: &[&str] = match key {
                    "a" | "id" => &["0", "1", "2"],
                    "f" | "n" => &["0.5", "1", "1.5"],
                    _ => &["interval '1 day'", "interval '36 hours'"],
                };
                let frame = format!("range {}{exclude}", bounds(random, offsets));
                call(unordered, format!("order by {key}{direction}"), frame)
            }
            5 => {
                let order = one(random, &["a, c", "t", "n, a desc", "id"]);
                let frame = format!("groups {}{exclude}", bounds(random, &["0", "1", "2"]));
                call(unordered, format!("order by {order}{direction}"), frame)
            }
            6 => {
                let frame = format!(
                    "range between {}{exclude}",
                    one(
                        random,
                        &[
                            "unbounded preceding and current row",
                            "current row and unbounded following",
                            "unbounded preceding and unbounded following",
                            "current row and current row",
                        ]
                    )
                );
                call(unordered, format!("order by {key}{direction}"), frame)
            }
            kind => {
                let order = format!("order by {}", one(random, &["id", "id desc", "a, id", "t desc, id", "c, n, id"]));
                let function = if kind == 7 { unordered } else { one(random, &ORDERED).to_string() };
                let units = one(random, &["rows", "rows", "groups"]);
                let frame = match random.random_bool(0.7) {
                    true => format!("{units} {}{exclude}", bounds(random, &["0", "1", "3"])),
                    false => String::new(),
                };
                call(function, order, frame)
            }
        }
    }
}

impl Query {
    /// The query of a seed.
    pub fn random(seed: u64) -> Query {
        let mut random = StdRng::seed_from_u64(seed);
        let random = &mut random;
        let count = random.random_range(1..=4);
        let mut calls: Vec<Call> = (0..count).map(|_| Call::random(random)).collect();
        if random.random_bool(0.3) {
            // The same function, or the same order, with another frame.
            let other = match random.random_bool(0.5) {
                true => {
                    let order = one(random, &["id", "a, id"]);
                    let units =
                        one(random, &["range unbounded preceding", "rows 2 preceding", "groups 1 preceding", ""]);
                    Call { order: format!("order by {order}"), frame: units.into(), ..calls[0].clone() }
                }
                false => Call { frame: String::new(), ..calls[0].clone() },
            };
            calls.push(other);
        }
        let places = [
            Place::List,
            Place::List,
            Place::Distinct,
            Place::Distinct,
            Place::OrderBy,
            Place::Subquery,
            Place::Lateral,
            Place::Grouped,
            Place::Correlated,
        ];
        Query {
            calls,
            place: one(random, &places),
            condition: one(random, &["", "", " where a > 0", " where id % 3 > 0", " where false"]),
            limit: one(random, &["", "", " limit 3", " limit 4 offset 2"]),
        }
    }

    /// SQL text of the query, with a deterministic order of the rows.
    pub fn sql(&self) -> String {
        let calls: Vec<String> = self.calls.iter().map(Call::sql).collect();
        let (list, condition, limit) = (calls.join(", "), self.condition, self.limit);
        let places: Vec<String> = (1..=calls.len() + 1).map(|place| place.to_string()).collect();
        let named: Vec<String> = calls.iter().enumerate().map(|(place, call)| format!("{call} as x{place}")).collect();
        let named = named.join(", ");
        match self.place {
            Place::List => format!("select id, {list} from w{condition} order by id{limit}"),
            Place::Distinct => {
                format!("select distinct c, {list} from w{condition} order by {}{limit}", places.join(", "))
            }
            Place::OrderBy => format!("select id from w{condition} order by {list}, id{limit}"),
            Place::Subquery => {
                format!(
                    "select * from (select id, {named} from w{condition}) q where x0 is not null order by id{limit}"
                )
            }
            Place::Lateral => format!(
                "select o.id, q.* from w o, lateral (select {named} from w where w.a >= o.a order by id limit 2) q \
                 where o.id < 5 order by {}{limit}",
                places.join(", ")
            ),
            Place::Grouped => format!(
                "select id, {list} from (select min(id) as id, a, max(f) as f, min(n) as n, max(t) as t, min(d) as d, \
                 bool_or(c) as c from w{condition} group by a) w order by id{limit}"
            ),
            Place::Correlated => {
                let first = calls.first().cloned().unwrap_or_default();
                format!(
                    "select id, (select {first} from w where w.id <= o.id order by id desc limit 1), \
                     exists (select {first} from w where w.a = o.a + 1) from w o{condition} order by id{limit}"
                )
            }
        }
    }

    /// Queries that are one step smaller.
    pub fn smaller(&self) -> Vec<Query> {
        let mut found = Vec::new();
        for place in 0..if self.calls.len() > 1 { self.calls.len() } else { 0 } {
            let mut less = self.clone();
            less.calls.remove(place);
            found.push(less);
        }
        if self.place != Place::List {
            found.push(Query { place: Place::List, ..self.clone() });
        }
        if !self.condition.is_empty() {
            found.push(Query { condition: "", ..self.clone() });
        }
        if !self.limit.is_empty() {
            found.push(Query { limit: "", ..self.clone() });
        }
        for (place, call) in self.calls.iter().enumerate() {
            let fewer = [
                Call { partition: "", ..call.clone() },
                Call { frame: String::new(), ..call.clone() },
                Call { order: String::new(), frame: String::new(), ..call.clone() },
            ];
            for less in fewer.into_iter().filter(|less| less.sql() != call.sql()) {
                let mut query = self.clone();
                query.calls[place] = less;
                found.push(query);
            }
        }
        found
    }
}
