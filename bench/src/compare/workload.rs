//! [`Workload`]: a measured task with its figures and goals.

use super::figure::{Bound, Figure, Goal};
use super::options::{Isolation, Options};
use super::pgbench::Pgbench;
use crate::error::{Error, Result};

/// The task of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// pgbench with a time limit, on its own tables or on the table for scans.
    Pgbench(Pgbench),
    /// COPY of account rows into a new table. The table has its primary key, or the transaction of the COPY creates it
    /// without a key. In the latter case no other session can see the rows.
    Copy {
        /// Whether the table has its primary key.
        key: bool,
    },
    /// CREATE INDEX on the table for scans.
    Index,
    /// Reads the server's resident memory once.
    Memory,
    /// Reads a result of five thousand bytes for each row of the table for scans, and samples the server's memory
    /// meanwhile.
    Stream,
}

/// The tables that a workload needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Needs {
    /// No table is needed.
    Nothing,
    /// The tables of `pgbench -i`.
    Accounts,
    /// The table for scans, with `--rows` rows.
    Scanned,
}

/// A task that runs on both servers in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Name for the option `--only`.
    pub name: &'static str,
    /// Title of the workload in reports.
    pub title: String,
    /// Task of each run.
    pub task: Task,
    /// Tables that the task needs.
    pub needs: Needs,
    /// Figures that are compared.
    pub figures: Vec<Figure>,
    /// Targets of some figures.
    pub goals: Vec<Goal>,
    /// Whether PercoSQL is also compared with itself, which shows the noise.
    pub itself: bool,
}

impl Workload {
    /// Whether transactions write, so that syncs and retries matter.
    pub fn writes(&self) -> bool {
        self.figures.contains(&Figure::Syncs)
    }
}

const PREPARED: &[&str] = &["-S", "-M", "prepared"];
const UPDATE: &[&str] = &["-N", "-M", "prepared"];
const TPC_B: &[&str] = &["-b", "tpcb-like", "-M", "prepared"];
/// The latency log contains one point read out of this many.
const LOG_SHORT: u32 = 20;

const SHORT: &[Figure] = &[Figure::Throughput, Figure::Cpu, Figure::P99];
const WRITING: &[Figure] = &[Figure::Throughput, Figure::Cpu, Figure::P99, Figure::Syncs, Figure::Retries];
const LONG: &[Figure] = &[Figure::Time, Figure::Cpu];
const LOADING: &[Figure] = &[Figure::Rows, Figure::RowsPerCpu];

fn at_most(figure: Figure, limit: f64) -> Goal {
    Goal { figure, bound: Bound::RatioAtMost(limit) }
}

fn at_least(figure: Figure, limit: f64) -> Goal {
    Goal { figure, bound: Bound::RatioAtLeast(limit) }
}

/// A workload with one of pgbench's own scripts.
fn builtin(name: &'static str, title: &str, arguments: &'static [&'static str], clients: usize) -> Workload {
    let writes = !arguments.contains(&"-S");
    Workload {
        name,
        title: format!("{title}, {clients} client{}", if clients == 1 { "" } else { "s" }),
        task: Task::Pgbench(Pgbench {
            arguments,
            clients,
            log_one_of: if writes { 1 } else { LOG_SHORT },
            ..Pgbench::default()
        }),
        needs: Needs::Accounts,
        figures: if writes { WRITING } else { SHORT }.to_vec(),
        goals: Vec::new(),
        itself: false,
    }
}

/// One connection per transaction. pgbench measures latencies only from the connection on, so they are not used here.
fn connecting() -> Workload {
    let task = Task::Pgbench(Pgbench { arguments: &["-S", "-C"], clients: 1, ..Pgbench::default() });
    let figures = vec![Figure::Throughput, Figure::Cpu];
    let workload = builtin("connect", "`-S -C`, a connection each", &["-S", "-C"], 1);
    Workload { task, figures, goals: vec![at_most(Figure::Cpu, 0.05)], ..workload }
}

/// The workload at READ COMMITTED, where a writer waits for the row of another writer and does not retry.
fn committed(name: &'static str, workload: Workload) -> Workload {
    let title = format!("{}, READ COMMITTED", workload.title);
    let task = match workload.task {
        Task::Pgbench(pgbench) => Task::Pgbench(Pgbench { isolation: Some(Isolation::ReadCommitted), ..pgbench }),
        other => other,
    };
    Workload { name, title, task, ..workload }
}

/// A workload with a script of one statement.
fn script(name: &'static str, title: String, needs: Needs, script: String) -> Workload {
    let short = needs == Needs::Accounts;
    let (clients, log_one_of) = if short { (4, LOG_SHORT) } else { (1, 0) };
    let title = format!("{title}, {clients} client{}", if clients == 1 { "" } else { "s" });
    let arguments = &["-M", "prepared"];
    let pgbench = Pgbench { arguments, script: Some(script), clients, log_one_of, isolation: None };
    let (figures, goal) = if short { (SHORT, at_most(Figure::Cpu, 0.8)) } else { (LONG, at_most(Figure::Time, 3.0)) };
    let (figures, goals) = (figures.to_vec(), vec![goal]);
    Workload { name, title, task: Task::Pgbench(pgbench), needs, figures, goals, itself: false }
}

fn loading(name: &'static str, title: String, task: Task, needs: Needs, goal: f64) -> Workload {
    let goals = vec![at_least(Figure::RowsPerCpu, goal)];
    Workload { name, title, task, needs, figures: LOADING.to_vec(), goals, itself: false }
}

/// All workloads in their order. The first ones need a server that has done little. The last ones leave deferred work
/// behind.
fn all(options: &Options) -> Vec<Workload> {
    let (accounts, rows) = (options.accounts(), options.rows);
    let goals = |workload: Workload, goals: &[Goal]| Workload { goals: goals.to_vec(), ..workload };
    let cpu = |workload: Workload, limit: f64| goals(workload, &[at_most(Figure::Cpu, limit)]);
    let writing = |workload: Workload| goals(workload, &[at_most(Figure::Cpu, 0.6), at_least(Figure::Throughput, 1.3)]);
    let itself = |workload: Workload| Workload { itself: true, ..workload };
    let memory = Goal { figure: Figure::Memory, bound: Bound::AtMost(150.0) };
    vec![
        Workload {
            name: "memory",
            title: format!("at rest after `pgbench -i` of {accounts} rows"),
            task: Task::Memory,
            needs: Needs::Accounts,
            figures: vec![Figure::Memory],
            // The goal holds for a million rows.
            goals: if accounts == 1_000_000 { vec![memory] } else { Vec::new() },
            itself: false,
        },
        cpu(builtin("point-prepared-1", "`-S` prepared", PREPARED, 1), 0.65),
        cpu(builtin("point-prepared-8", "`-S` prepared", PREPARED, 8), 0.65),
        cpu(builtin("point-simple-1", "`-S` simple", &["-S", "-M", "simple"], 1), 0.5),
        cpu(builtin("point-simple-8", "`-S` simple", &["-S", "-M", "simple"], 8), 0.5),
        cpu(builtin("point-extended-1", "`-S` extended", &["-S", "-M", "extended"], 1), 0.6),
        cpu(builtin("point-extended-8", "`-S` extended", &["-S", "-M", "extended"], 8), 0.6),
        connecting(),
        script(
            "join",
            "three tables by their keys, prepared".into(),
            Needs::Accounts,
            format!(
                "\\set aid random(1, {accounts})\nSELECT abalance, tbalance, bbalance FROM pgbench_accounts a JOIN \
                 pgbench_branches b ON b.bid = a.bid JOIN pgbench_tellers t ON t.tid = b.bid WHERE a.aid = :aid;\n"
            ),
        ),
        script(
            "range",
            "100 rows of a range, prepared".into(),
            Needs::Accounts,
            format!(
                "\\set aid random(1, {})\nSELECT aid, abalance FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + 99;\n",
                accounts - 99
            ),
        ),
        script(
            "last",
            "ORDER BY key DESC LIMIT 10, prepared".into(),
            Needs::Accounts,
            format!(
                "\\set aid random(1, {accounts})\nSELECT aid, abalance FROM pgbench_accounts WHERE aid <= :aid ORDER BY aid \
                 DESC LIMIT 10;\n"
            ),
        ),
        script(
            "filter",
            format!("filter that one in a thousand of {rows} rows passes"),
            Needs::Scanned,
            "SELECT id, amount FROM bench_scanned WHERE kind = 7;\n".into(),
        ),
        script(
            "count",
            format!("count(*) of {rows} rows"),
            Needs::Scanned,
            "SELECT count(*) FROM bench_scanned;\n".into(),
        ),
        script("sum", format!("sum of {rows} rows"), Needs::Scanned, "SELECT sum(amount) FROM bench_scanned;\n".into()),
        Workload {
            name: "stream",
            title: format!("the most while {rows} rows of 5 kB each go to a client"),
            task: Task::Stream,
            needs: Needs::Scanned,
            figures: vec![Figure::Memory, Figure::Rows],
            goals: vec![Goal { figure: Figure::Memory, bound: Bound::AtMost(512.0) }],
            itself: false,
        },
        writing(builtin("update-1", "`-N` prepared", UPDATE, 1)),
        writing(builtin("update-16", "`-N` prepared", UPDATE, 16)),
        writing(builtin("tpcb-16", "TPC-B prepared", TPC_B, 16)),
        committed("tpcb-16-committed", writing(builtin("tpcb-16", "TPC-B prepared", TPC_B, 16))),
        itself(builtin("noise-point", "`-S` prepared", PREPARED, 8)),
        itself(builtin("noise-update", "`-N` prepared", UPDATE, 16)),
        loading("index", format!("CREATE INDEX on {rows} rows"), Task::Index, Needs::Scanned, 1.0),
        loading(
            "copy-new",
            format!("COPY of {rows} accounts, table made in the same transaction"),
            Task::Copy { key: false },
            Needs::Nothing,
            2.0,
        ),
        loading(
            "copy-key",
            format!("COPY of {rows} accounts, table with its primary key"),
            Task::Copy { key: true },
            Needs::Nothing,
            2.0,
        ),
    ]
}

/// The workloads that `--only` selects.
pub fn chosen(options: &Options) -> Result<Vec<Workload>> {
    let all = all(options);
    if let Some(word) =
        options.only.iter().find(|word| !all.iter().any(|workload| workload.name.contains(word.as_str())))
    {
        let names: Vec<&str> = all.iter().map(|workload| workload.name).collect();
        return Err(Error::other(format!("no workload is called {word}; there are {}", names.join(", "))));
    }
    let asked = |workload: &Workload| {
        options.only.is_empty() || options.only.iter().any(|word| workload.name.contains(word.as_str()))
    };
    Ok(all.into_iter().filter(asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    fn options(arguments: &[&str]) -> Options {
        let command = Options::augment_args(clap::Command::new("compare").no_binary_name(true));
        Options::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
    }

    fn names(arguments: &[&str]) -> Vec<&'static str> {
        chosen(&options(arguments)).unwrap().iter().map(|workload| workload.name).collect()
    }

    #[test]
    fn words_choose() {
        assert_eq!(names(&["--only", "simple-8", "--only", "copy"]), ["point-simple-8", "copy-new", "copy-key"]);
        let everything = names(&[]);
        let different: std::collections::BTreeSet<_> = everything.iter().collect();
        assert_eq!(different.len(), everything.len());
        let refused = chosen(&options(&["--only", "nonsense"])).unwrap_err().to_string();
        assert!(refused.contains("nonsense") && refused.contains("tpcb-16"), "{refused}");
    }

    #[test]
    fn goals_are_of_figures_that_are_shown() {
        for workload in all(&options(&[])) {
            assert!(workload.goals.iter().all(|goal| workload.figures.contains(&goal.figure)), "{}", workload.name);
            assert_eq!(workload.goals.is_empty(), workload.itself, "{}", workload.name);
        }
        // The goal of `memory` holds for a million rows.
        assert!(all(&options(&["--scale", "1"])).iter().any(|one| one.name == "memory" && one.goals.is_empty()));
    }
}
