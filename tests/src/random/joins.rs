//! Random joins of three to six relations out of four tables, in any order, with conditions of every kind between them.
//! PostgreSQL's answer is the expected one.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

/// The tables: keys of one and two columns, an index, NULLs, and values that are frequent, rare and absent. Only
/// explicit ANALYZE statements collect their statistics.
pub const TABLES: &str = "
    create table j0 (id int primary key, a int, b int, t text) with (autovacuum_enabled = off);
    create table j1 (id int, n int, a int, t text, primary key (id, n)) with (autovacuum_enabled = off);
    create table j2 (id int primary key, a int, b int, t text) with (autovacuum_enabled = off);
    create table j3 (a int, b int, t text) with (autovacuum_enabled = off);
    create index on j2 (a);
    create index on j3 (b);
    insert into j0 select i, i % 7, nullif(i % 5, 0), 'x' || i % 3 from generate_series(1, 40) i;
    insert into j1 select i, n, i * n % 11, case when n = 1 then 'x0' end from generate_series(1, 30) i, generate_series(1, 2) n;
    insert into j2 select i, i % 40, case when i > 60 then i end, 'x' || i % 9 from generate_series(1, 80) i;
    insert into j3 select i % 4, i % 13, null from generate_series(1, 25) i";

/// The integer columns of each table.
const COLUMNS: [&[&str]; 4] = [&["id", "a", "b"], &["id", "n", "a"], &["id", "a", "b"], &["a", "b"]];

/// A join: its tables and the text of its FROM clause.
struct Joined {
    tables: Vec<usize>,
    from: String,
}

impl Joined {
    fn column(&self, random: &mut StdRng, at: usize) -> String {
        column(&self.tables, random, at)
    }
}

fn column(tables: &[usize], random: &mut StdRng, at: usize) -> String {
    let columns = tables.get(at).and_then(|table| COLUMNS.get(*table)).expect("a table");
    format!("r{at}.{}", columns.choose(random).expect("a column"))
}

/// The query of a seed: sums over all rows of a join.
pub fn query(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let joined = Joined::random(&mut random);
    let shown = |at| format!("sum({}), max(r{at}.t)", joined.column(&mut random, at));
    let shown: Vec<String> = (0..joined.tables.len()).map(shown).collect();
    format!("select count(*), {} from {}", shown.join(", "), joined.from)
}

/// Another query of a seed: the first rows of a join, ordered by all shown columns. The order starts with columns that
/// a key or an index may provide in order.
pub fn first_rows(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let joined = Joined::random(&mut random);
    let mut shown: Vec<String> = (0..joined.tables.len()).map(|at| joined.column(&mut random, at)).collect();
    shown.shuffle(&mut random);
    let order: Vec<String> = (1..=shown.len())
        .map(|at| format!("{at}{}", ["", "", " desc", " nulls first"].choose(&mut random).expect("a direction")))
        .collect();
    let (rows, skipped) = (random.random_range(1..20), [0, 0, 3].choose(&mut random).expect("a number"));
    let distinct = if random.random_bool(0.2) { "distinct " } else { "" };
    format!(
        "select {distinct}{} from {} order by {} limit {rows} offset {skipped}",
        shown.join(", "),
        joined.from,
        order.join(", ")
    )
}

impl Joined {
    fn random(random: &mut StdRng) -> Joined {
        let count = random.random_range(3..=6);
        let tables: Vec<usize> = (0..count).map(|_| random.random_range(0..COLUMNS.len())).collect();
        let column = |random: &mut StdRng, at: usize| column(&tables, random, at);
        // The join graph is a chain or a star, written in some order. Each relation has an equality with an earlier
        // one, so that no product grows too large.
        let mut written: Vec<usize> = (0..count).collect();
        written.shuffle(random);
        let mut text = String::new();
        let mut known: Vec<usize> = Vec::new();
        let mut conditions = Vec::new();
        for at in written {
            let table = tables.get(at).copied().unwrap_or_default();
            let Some(partner) = known.choose(random).copied() else {
                text = format!("j{table} r{at}");
                known.push(at);
                continue;
            };
            let equality = |random: &mut StdRng| {
                let (ours, theirs) = (column(random, at), column(random, partner));
                match random.random_range(0..8) {
                    0 => format!("{ours} = {theirs} + 1"),
                    1 => format!("{theirs} + 0 = {ours} + 0"),
                    _ => format!("{theirs} = {ours}"),
                }
            };
            let mut on = vec![equality(random)];
            if random.random_bool(0.2) {
                on.push(equality(random));
            }
            if random.random_bool(0.2) {
                on.push(format!(
                    "{} {} {}",
                    column(random, at),
                    ["<", "<>", ">="].choose(random).expect("one"),
                    column(random, partner)
                ));
            }
            let on = on.join(" and ");
            match random.random_range(0..10) {
                0 => text.push_str(&format!(" left join j{table} r{at} on {on}")),
                1..6 => text.push_str(&format!(" join j{table} r{at} on {on}")),
                // CROSS JOIN instead of a comma, which binds less tightly: later ON clauses could not refer to
                // relations before it.
                _ => {
                    text.push_str(&format!(" cross join j{table} r{at}"));
                    conditions.push(on);
                }
            }
            known.push(at);
        }
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..count);
            let column = column(random, at);
            conditions.push(match random.random_range(0..6) {
                0 => format!("r{at}.t like 'x%'"),
                1 => format!("{column} is not null"),
                2 => format!("{column} in (1, 2, 3, 50)"),
                3 => format!("exists (select from j3 where j3.b = {column})"),
                4 => format!("{column} between 2 and 20"),
                _ => format!("{column} = {}", random.random_range(0..12)),
            });
        }
        let condition =
            if conditions.is_empty() { String::new() } else { format!(" where {}", conditions.join(" and ")) };
        Joined { from: format!("{text}{condition}"), tables }
    }
}
