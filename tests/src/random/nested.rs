//! Random nested queries over the tables of [`super::joins`]: orders, limits, groups, sets, windows and joins of each
//! other. Every limit applies to an order of all columns, so that the rows are deterministic. PostgreSQL's answer is
//! the expected one.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

/// The innermost queries, one per table.
const BOTTOMS: [&str; 6] = [
    "select id as c0, a as c1, b as c2 from j0",
    "select id as c0, n as c1, a as c2 from j1",
    "select b as c0, id as c1, a as c2 from j2",
    "select a as c0, b as c1, a + b as c2 from j3",
    "select id as c0, a as c1, length(t) as c2 from j2 where id % 3 > 0",
    "select g as c0, g % 4 as c1, nullif(g % 3, 0) as c2 from generate_series(1, 12) g",
];

/// The columns of each query.
const COLUMNS: [&str; 3] = ["c0", "c1", "c2"];

/// The query of a seed.
pub fn query(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let depth = random.random_range(1..=4);
    let (text, order) = (nested(&mut random, depth), all(&mut random, ""));
    let limit = if random.random_bool(0.5) { limit(&mut random) } else { String::new() };
    format!("select * from ({text}) x order by {order}{limit}")
}

fn limit(random: &mut StdRng) -> String {
    let rows = random.random_range(0..12);
    match random.random_range(0..5) {
        0 => format!(" limit {rows} offset {}", random.random_range(0..6)),
        1 => format!(" offset {rows}"),
        2 => format!(" fetch first {rows} rows with ties"),
        _ => format!(" limit {rows}"),
    }
}

/// An ORDER BY list of all columns. Rows that are equal in it are identical.
fn all(random: &mut StdRng, of: &str) -> String {
    let mut columns = COLUMNS;
    columns.shuffle(random);
    directed(random, of, &columns)
}

/// An ORDER BY list of some columns.
fn some(random: &mut StdRng, of: &str) -> String {
    let mut columns = COLUMNS;
    columns.shuffle(random);
    let count = random.random_range(1..3);
    directed(random, of, columns.get(..count).unwrap_or_default())
}

fn directed(random: &mut StdRng, of: &str, columns: &[&str]) -> String {
    let directions = ["", "", " desc", " nulls first", " desc nulls last"];
    let items: Vec<String> = columns
        .iter()
        .map(|column| format!("{of}{column}{}", directions.choose(random).expect("a direction")))
        .collect();
    items.join(", ")
}

/// A select list of the columns in another order, some of them computed.
fn shown(random: &mut StdRng, of: &str) -> String {
    let mut columns = COLUMNS;
    columns.shuffle(random);
    let item = |random: &mut StdRng, column: &str| match random.random_range(0..8) {
        0 => format!("{of}{column} + 1"),
        1 => format!("coalesce({of}{column}, 0)"),
        2 => format!("-{of}{column}"),
        _ => format!("{of}{column}"),
    };
    let items: Vec<String> =
        columns.iter().zip(COLUMNS).map(|(from, to)| format!("{} as {to}", item(random, from))).collect();
    items.join(", ")
}

fn condition(random: &mut StdRng, of: &str, depth: usize) -> String {
    let column = COLUMNS.choose(random).expect("a column");
    let other = COLUMNS.choose(random).expect("a column");
    match random.random_range(0..9) {
        0 => format!("{of}{column} in (select {other} from ({}) i)", nested(random, depth / 2)),
        1 => format!("exists (select from ({}) i where i.{other} = {of}{column})", nested(random, depth / 2)),
        2 => format!("not exists (select from ({}) i where i.{other} = {of}{column})", nested(random, depth / 2)),
        3 => {
            let inner = nested(random, depth / 2);
            format!("{of}{column} > (select min(i.{other}) from ({inner}) i where i.c1 = {of}c1)")
        }
        4 => format!("{of}{column} is null"),
        5 => format!("({of}{column} = {} or {of}{other} > 2)", random.random_range(0..9)),
        6 => format!("{of}{column} between {} and 9", random.random_range(0..5)),
        _ => format!("{of}{column} < {}", random.random_range(1..30)),
    }
}

/// A query of at most `depth` levels.
fn nested(random: &mut StdRng, depth: usize) -> String {
    if depth == 0 || random.random_bool(0.1) {
        return BOTTOMS.choose(random).expect("a query").to_string();
    }
    let inner = |random: &mut StdRng| nested(random, depth - 1);
    match random.random_range(0..16) {
        0 | 1 => {
            let (shown, from) = (shown(random, ""), inner(random));
            format!("select {shown} from ({from}) x order by {}", some(random, ""))
        }
        2..5 => {
            let from = inner(random);
            format!("select * from ({from}) x order by {}{}", all(random, ""), limit(random))
        }
        5 => {
            let from = inner(random);
            format!("select {} from ({from}) x where {}", shown(random, "x."), condition(random, "x.", depth - 1))
        }
        6 => format!("select distinct {} from ({}) x", shown(random, ""), inner(random)),
        7 => {
            let from = inner(random);
            format!("select distinct on (c1) * from ({from}) x order by c1, c0, c2{}", limit(random))
        }
        8 | 9 => {
            let key = COLUMNS.choose(random).expect("a column");
            let aggregates = ["count(*)", "max(c2)", "count(distinct c2)", "sum(c0)", "min(c1) filter (where c0 > 3)"];
            let group = ["", "", "", " having count(*) > 1"].choose(random).expect("a clause");
            let by = if random.random_bool(0.2) { format!("rollup ({key})") } else { key.to_string() };
            let [first, second] = aggregates.sample_array(random).expect("two of them");
            format!("select {key} as c0, {first} as c1, {second} as c2 from ({}) x group by {by}{group}", inner(random))
        }
        10 => {
            let over = format!("partition by c1 order by {}", all(random, ""));
            let call = ["row_number()", "rank()", "sum(c2)", "lag(c0)", "max(c0)"].choose(random).expect("a call");
            format!("select c0, c1, {call} over ({over}) as c2 from ({}) x", inner(random))
        }
        11 | 12 => {
            let operator = ["union", "union all", "intersect", "except", "except all"].choose(random).expect("a set");
            let text = format!("({}) {operator} ({})", inner(random), nested(random, depth / 2));
            if random.random_bool(0.5) { text } else { format!("{text} order by {}{}", all(random, ""), limit(random)) }
        }
        13 => {
            let (one, two) = (inner(random), nested(random, depth / 2));
            let order = all(random, "");
            format!("with w as ({one}) select * from w where c0 > 1 union all ({two}) order by {order} limit 40")
        }
        14 => {
            // The condition on the second side refers to the first.
            let (one, two) = (inner(random), nested(random, depth / 2));
            let order = all(random, "r.");
            format!(
                "select l.c0, r.c1, r.c2 from ({one}) l, lateral (select * from ({two}) r where r.c0 = l.c1 order by {order} limit 2) r"
            )
        }
        _ => {
            let kind = ["join", "join", "left join", "right join", "full join"].choose(random).expect("a kind");
            let on = COLUMNS.choose(random).expect("a column");
            let other = COLUMNS.choose(random).expect("a column");
            let (left, right) = (inner(random), nested(random, depth / 2));
            // Without a limit, joins of joins would grow exponentially.
            let joined = format!("select l.c0, r.c1, l.c2 from ({left}) l {kind} ({right}) r on l.{on} = r.{other}");
            format!("select * from ({joined}) x order by {} limit 60", all(random, ""))
        }
    }
}
