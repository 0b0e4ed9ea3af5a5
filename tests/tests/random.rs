//! Random queries on PostgreSQL and on PercoSQL: equal rows, names, types and SQLSTATEs. The seeds are the same in
//! every run; `PERCOSQL_SEEDS=5000-9000` selects others. The test reduces a failing query before it reports it.

use percosql_tests::compat::answer;
use percosql_tests::random::writes::Write;
use percosql_tests::random::{Query, joins, nested, relations, rules, windows};
use percosql_tests::raw::Raw;
use percosql_tests::{Postgres, Server};
use std::collections::BTreeMap;
use std::ops::Range;

/// Seeds of an ordinary run.
const SEEDS: Range<u64> = 0..1500;

/// Connections to both servers.
struct Pair {
    postgres: Raw,
    percosql: Raw,
}

impl Pair {
    fn ask(&mut self, sql: &str) -> (String, String) {
        let mut said = [&mut self.postgres, &mut self.percosql].map(|raw| {
            answer(&raw.try_query(sql).unwrap_or_else(|| panic!("the connection was lost over {sql}"))).result
        });
        (std::mem::take(&mut said[0]), std::mem::take(&mut said[1]))
    }

    /// Both answers if they differ.
    fn differ(&mut self, query: &Query) -> Option<(String, String)> {
        let (expected, found) = self.ask(&query.sql());
        // PostgreSQL answers 0A000 to the conversion of NaN to an integer.
        let nan = expected.contains("ERROR 0A000");
        let data_error = |said: &str| said.contains("ERROR 22") || nan && said.contains("ERROR 0A000");
        let excused = query.order_matters() && (data_error(&expected) || data_error(&found));
        // With two faults in a query, either error may come first.
        let both = data_error(&expected) && (data_error(&found) || found.contains("ERROR 0A000"));
        // PostgreSQL does not evaluate strict functions of a constant NULL.
        let rows = || expected.lines().filter(|line| line.starts_with("  "));
        let null = found.contains("ERROR") && rows().count() > 0 && rows().all(|row| row.contains("NULL"));
        let excused = excused || null && !found.contains("ERROR XX");
        (expected != found && !excused && !both).then_some((expected, found))
    }

    fn smallest(&mut self, mut query: Query) -> Query {
        // Each step takes a smaller query that still differs.
        for _ in 0..60 {
            match query.smaller().into_iter().find(|less| self.differ(less).is_some()) {
                Some(less) => query = less,
                None => break,
            }
        }
        query
    }
}

fn seeds() -> Range<u64> {
    let given = std::env::var("PERCOSQL_SEEDS").ok();
    let bounds = given.as_deref().and_then(|text| text.split_once('-'));
    bounds.map_or(SEEDS, |(first, end)| first.parse().expect("a number")..end.parse().expect("a number"))
}

/// Reduces an answer to a write. A data error anywhere ends the write, so only the kind of answer counts.
fn told(said: &str) -> &str {
    if said.contains("ERROR 22") || said.contains("ERROR 0A000") { "an error of a value" } else { said }
}

#[test]
fn random_writes_have_the_same_answers() {
    let (server, postgres) = (Server::start(), Postgres::start());
    let mut pair = Pair { postgres: Raw::connect_port(postgres.port()), percosql: Raw::connect(&server) };
    let (expected, found) = pair.ask(rules::TABLES);
    assert_eq!((expected.as_str(), expected.contains("ERROR")), (found.as_str(), false));
    let differ = |pair: &mut Pair, write: &Write| {
        let (expected, found) = pair.ask(&write.sql());
        // An error ends the batch but not its transaction block.
        pair.ask("rollback");
        // The plan chooses the rows for which a value is computed, so errors may differ.
        let failed = [&expected, &found].iter().any(|said| told(said) != said.as_str());
        (!failed && expected != found).then_some((expected, found))
    };
    let (mut done, mut wrong) = (0, BTreeMap::new());
    let seeds = seeds().start..seeds().start + (seeds().end - seeds().start) / 3;
    for seed in seeds.clone() {
        let mut write = Write::random(seed);
        while let Some(answers) = differ(&mut pair, &write) {
            match write.smaller().into_iter().find(|less| differ(&mut pair, less).is_some()) {
                Some(less) => write = less,
                None => {
                    wrong.entry(write.sql()).or_insert((seed, answers));
                    break;
                }
            }
        }
        done += u64::from(told(&pair.ask(&write.sql()).0).contains("ROLLBACK"));
        pair.ask("rollback");
    }
    for (sql, (seed, (expected, found))) in &wrong {
        println!("-- seed {seed}\n{sql};\nPostgreSQL: {expected}PercoSQL:   {found}");
    }
    assert!(wrong.is_empty(), "{} kinds of writes differ", wrong.len());
    assert!(done * 3 > seeds.end - seeds.start, "{done} writes were done");
}

#[test]
fn random_queries_have_the_same_answers() {
    let (server, postgres) = (Server::start(), Postgres::start());
    let mut pair = Pair { postgres: Raw::connect_port(postgres.port()), percosql: Raw::connect(&server) };
    let (expected, found) = pair.ask(rules::TABLES);
    assert_eq!((expected.as_str(), expected.contains("ERROR")), (found.as_str(), false));
    let (mut answered, mut wrong) = (0, BTreeMap::new());
    for seed in seeds() {
        let query = Query::random(seed);
        if pair.differ(&query).is_some() {
            let query = pair.smallest(query);
            let answers = pair.differ(&query);
            wrong.entry(query.sql()).or_insert((seed, answers));
        }
        answered += u64::from(pair.ask(&query_of(seed)).0.contains("SELECT"));
    }
    for (sql, (seed, answers)) in &wrong {
        let (expected, found) = answers.clone().unwrap_or_default();
        println!("-- seed {seed}\n{sql};\nPostgreSQL: {expected}PercoSQL:   {found}");
    }
    assert!(wrong.is_empty(), "{} kinds of queries differ", wrong.len());
    // Agreement on errors alone would prove little.
    assert!(answered * 2 > seeds().end - seeds().start, "{answered} queries have rows");
}

/// Before ANALYZE joins run in their written order, afterwards in an order of the planner's choice.
#[test]
fn random_joins_have_the_same_answers_in_every_order() {
    let (server, postgres) = (Server::start(), Postgres::start());
    let mut pair = Pair { postgres: Raw::connect_port(postgres.port()), percosql: Raw::connect(&server) };
    let (expected, found) = pair.ask(joins::TABLES);
    assert_eq!((expected.as_str(), expected.contains("ERROR")), (found.as_str(), false));
    let seeds = seeds().start..seeds().start + (seeds().end - seeds().start) / 5;
    let plan = |pair: &mut Pair, seed| pair.ask(&format!("explain (costs off) {}", joins::query(seed))).1;
    let before: Vec<String> = seeds.clone().map(|seed| plan(&mut pair, seed)).collect();
    let (mut wrong, mut some, mut reordered) = (Vec::new(), 0, 0);
    for analyzed in [false, true] {
        if analyzed {
            pair.ask("analyze");
        }
        for (seed, before) in seeds.clone().zip(&before) {
            let query = joins::query(seed);
            let (expected, found) = pair.ask(&query);
            some += u64::from(!expected.contains("\n  0"));
            if expected != found {
                wrong.push(format!("-- seed {seed}, analyzed: {analyzed}\n{query};\n{expected}{found}"));
            }
            reordered += u64::from(analyzed && plan(&mut pair, seed) != *before);
            let query = joins::first_rows(seed);
            let (expected, found) = pair.ask(&query);
            if expected != found {
                wrong.push(format!("-- first rows of seed {seed}, analyzed: {analyzed}\n{query};\n{expected}{found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} joins differ\n{}", wrong.len(), wrong.join("\n"));
    let count = seeds.end - seeds.start;
    assert!(some > count && reordered * 2 > count, "{some} had rows, {reordered} of {count} were put in another order");
}

/// First over tables without statistics, then over analyzed tables.
#[test]
fn random_queries_in_queries_have_the_same_answers() {
    let (server, postgres) = (Server::start(), Postgres::start());
    let mut pair = Pair { postgres: Raw::connect_port(postgres.port()), percosql: Raw::connect(&server) };
    let (expected, found) = pair.ask(joins::TABLES);
    assert_eq!((expected.as_str(), expected.contains("ERROR")), (found.as_str(), false));
    let (mut wrong, mut some, mut asked) = (Vec::new(), 0, 0);
    for seed in seeds().filter(|seed| seed % 5 == 0) {
        if asked == (seeds().end - seeds().start) / 10 {
            pair.ask("analyze");
        }
        let query = nested::query(seed);
        let (expected, found) = pair.ask(&query);
        some += u64::from(expected.contains("\n  "));
        if expected != found {
            wrong.push(format!("-- seed {seed}\n{query};\n{expected}{found}"));
        }
        asked += 1;
    }
    assert!(wrong.is_empty(), "{} queries differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(some * 2 > asked, "{some} of {asked} had rows");
}

/// Functions that create, print and reduce one kind of query.
struct Kind<Q> {
    tables: &'static str,
    random: fn(u64) -> Q,
    sql: fn(&Q) -> String,
    smaller: fn(&Q) -> Vec<Q>,
}

impl<Q> Kind<Q> {
    /// Runs the queries of all seeds. The second half runs over analyzed tables.
    fn compare(&self, seeds: Range<u64>) {
        let (server, postgres) = (Server::start(), Postgres::start());
        let mut pair = Pair { postgres: Raw::connect_port(postgres.port()), percosql: Raw::connect(&server) };
        let (expected, found) = pair.ask(self.tables);
        assert_eq!((expected.as_str(), expected.contains("ERROR")), (found.as_str(), false));
        let (mut wrong, mut some) = (BTreeMap::new(), 0);
        let half = seeds.start + (seeds.end - seeds.start) / 2;
        for seed in seeds.clone() {
            if seed == half {
                pair.ask("analyze");
            }
            let mut query = (self.random)(seed);
            let (expected, found) = pair.ask(&(self.sql)(&query));
            some += u64::from(!expected.contains("ERROR"));
            if expected == found {
                continue;
            }
            let mut answers = (expected, found);
            for _ in 0..60 {
                let mut less = (self.smaller)(&query).into_iter().map(|less| {
                    let answers = pair.ask(&(self.sql)(&less));
                    (less, answers)
                });
                match less.find(|(_, (expected, found))| expected != found) {
                    Some((less, differ)) => (query, answers) = (less, differ),
                    None => break,
                }
            }
            wrong.entry((self.sql)(&query)).or_insert((seed, answers));
        }
        for (sql, (seed, (expected, found))) in &wrong {
            println!("-- seed {seed}\n{sql};\nPostgreSQL: {expected}PercoSQL:   {found}");
        }
        assert!(wrong.is_empty(), "{} kinds of queries differ", wrong.len());
        assert!(some * 10 >= (seeds.end - seeds.start) * 9, "{some} queries were answered");
    }
}

/// A fraction of the seeds.
fn one_in(share: u64) -> Range<u64> {
    let seeds = seeds();
    seeds.start..seeds.start + (seeds.end - seeds.start) / share
}

#[test]
fn random_relations_are_joined_alike() {
    use relations::Query;
    let kind = Kind { tables: relations::TABLES, random: Query::random, sql: Query::sql, smaller: Query::smaller };
    kind.compare(one_in(25));
}

#[test]
fn random_windows_have_the_same_answers() {
    use windows::Query;
    let kind = Kind { tables: windows::TABLES, random: Query::random, sql: Query::sql, smaller: Query::smaller };
    kind.compare(one_in(25));
}

fn query_of(seed: u64) -> String {
    Query::random(seed).sql()
}
