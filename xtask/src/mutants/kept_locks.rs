//! Planted bugs in the locks of several servers, and in the records that garbage collection passes over.

use super::Mutant;

/// Bugs in the locks of several servers.
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
    Mutant {
        name: "what was abandoned counts as over before the keeper hears of it",
        file: "txn/src/locks/registry.rs",
        original: "        let Some(holder) = self.holders.get_mut(&locker).filter(|_| open) else {\n",
        broken: "        self.under_way.remove(&number);\n        let Some(holder) = self.holders.get_mut(&locker).filter(|_| open) else {\n",
        tests: &["-p", "percosql-txn", "--lib", "many_who_stop_waiting_at_once"],
    },
    Mutant {
        name: "what was had before a wait is noted behind it",
        file: "txn/src/locks/agent.rs",
        original: "                note(lock);\n",
        broken: "                let _ = (lock, &mut note);\n",
        tests: &["-p", "percosql-txn", "--lib", "before_the_wait_that_was_broken_off"],
    },
    Mutant {
        name: "who waits long gives up when the keeper changes",
        file: "txn/src/locks/agent.rs",
        original: "            without = without.max(self.state.lock().lease);\n",
        broken: "",
        tests: &["-p", "percosql-txn", "--lib", "who_has_waited_long"],
    },
    Mutant {
        name: "a lock that is there still is taken for resolved",
        file: "txn/src/gc.rs",
        original: "|| !self.is_locked(&row.key, cell).await?",
        broken: "|| !self.is_locked(&row.key, cell).await? || true",
        tests: &["-p", "percosql-txn", "--lib", "what_tells_the_fate_of_a_lock"],
    },
    Mutant {
        name: "a node's row is changed on condition of all that it says",
        file: "planner/src/catalog/nodes/row.rs",
        original: "self.change_if(node, equals(DIGEST, digest(value)), mutations.clone()).await?",
        broken: "self.change_if(node, equals(VERSION, value.clone()), mutations.clone()).await?",
        tests: &["-p", "percosql-planner", "--lib", "a_row_that_speaks_of_hundreds"],
    },
    Mutant {
        name: "garbage collection passes over what only removed something",
        file: "txn/src/gc.rs",
        original: "seen(cell).is_ok_and(|seen| seen != Seen::Absent)",
        broken: "seen(cell).is_ok()",
        tests: &["-p", "percosql-txn", "--lib", "what_garbage_collection_leaves_alone"],
    },
    Mutant {
        name: "outcomes that nobody can ask for any more stay",
        file: "txn/src/gc.rs",
        original: "if !self.collect_range(system::outcomes(), bound, &mut report, lease, |_| false).await? {",
        broken: "if false {",
        tests: &["-p", "percosql-txn", "--lib", "what_garbage_collection_leaves_alone"],
    },
];
