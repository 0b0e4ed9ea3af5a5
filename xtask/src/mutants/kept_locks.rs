//! The planted bugs in the locks of several servers. Knows the text of the source and nothing else.

use super::Mutant;

/// Those bugs.
pub const KEPT_LOCKS: &[Mutant] = &[
    Mutant {
        name: "a successor does not know who holds locks",
        file: "txn/src/oracle/election.rs",
        original: "holders: row.map(|row| row.holders.clone()).unwrap_or_default(),",
        broken: "holders: Default::default(),",
        tests: &["-p", "percosql-txn", "--lib", "locks_outlive_who_keeps_them"],
    },
    Mutant {
        name: "locks are granted before all were reclaimed",
        file: "txn/src/locks/keeper.rs",
        original: "if !self.grace.load(Ordering::SeqCst) {",
        broken: "if !self.grace.load(Ordering::SeqCst) || true {",
        tests: &["-p", "percosql-txn", "--lib", "locks_outlive_who_keeps_them"],
    },
    Mutant {
        name: "a server never takes its own lease for over",
        file: "txn/src/locks/agent.rs",
        original: "            && now < state.lease\n",
        broken: "",
        tests: &["-p", "percosql-txn", "--lib", "a_silent_node_loses_its_locks"],
    },
    Mutant {
        name: "a lost lock is forgotten",
        file: "txn/src/locks/registry.rs",
        original: "holder.lost.insert(*name);",
        broken: "",
        tests: &["-p", "percosql-txn", "--lib", "a_silent_node_loses_its_locks"],
    },
    Mutant {
        name: "a commit does not hear that there are locks",
        file: "txn/src/by_row.rs",
        original: "if reading.locked && self.unlooked.is_some()",
        broken: "if false && reading.locked && self.unlooked.is_some()",
        tests: &["-p", "percosql-txn", "--lib", "counts_of_two_nodes_are_never_lost"],
    },
];
