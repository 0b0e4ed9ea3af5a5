//! Planted bugs in memory limits and in long computations.

use super::Mutant;

/// Bugs in memory limits and long computations.
pub const MEMORY: &[Mutant] = &[
    Mutant {
        name: "a large value counts only while it is computed",
        file: "planner/src/value_size.rs",
        original: "    CLAIMED.set(None);\n    counted(made)\n",
        broken: "    CLAIMED.set(None);\n    Ok(made)\n",
        tests: &["-p", "percosql-planner", "--lib", "value_size"],
    },
    Mutant {
        name: "a large constant is computed while it is planned",
        file: "planner/src/value_size.rs",
        original: "    if FOLDING.get() == Folding::No {\n",
        broken: "    if FOLDING.get() != Folding::Deferred {\n",
        tests: &["-p", "percosql-planner", "--lib", "value_size"],
    },
    Mutant {
        name: "a part that lies across two pieces of a text is not found",
        file: "planner/src/functions/string/basic.rs",
        original: "text.get(from..border(end.saturating_add(part.len())))",
        broken: "text.get(from..end)",
        tests: &["-p", "percosql-planner", "--lib", "across_the_borders_of_pieces"],
    },
    Mutant {
        name: "notifications wait without a bound",
        file: "planner/src/session/notification.rs",
        original: ".saturating_add(bytes) <= QUEUE_BYTES {",
        broken: ".saturating_add(bytes) <= usize::MAX {",
        tests: &["-p", "percosql-planner", "--lib", "notifications_wait_in_a_bounded_queue"],
    },
    Mutant {
        name: "a statement counts for each of its names",
        file: "planner/src/session/statement_memory.rs",
        original: "        if let Some((count, _)) = kept.statements.get_mut(&address) {\n",
        broken: "        if let Some((count, _)) = kept.statements.get_mut(&address).filter(|_| false) {\n",
        tests: &["-p", "percosql-planner", "--lib", "statement_memory"],
    },
    Mutant {
        name: "write buffers hold any amount together",
        file: "txn/src/buffer.rs",
        original: "self.memory_bytes > self.limit || self.part.is_over(self.memory_bytes, self.runs.len())",
        broken: "self.memory_bytes > self.limit",
        tests: &["-p", "percosql-txn", "--lib", "buffers_that_hold_too_much_together"],
    },
    Mutant {
        name: "spilled row locks are not looked at",
        file: "txn/src/locks/table.rs",
        original: "match self.spilled.any() {",
        broken: "match self.spilled.any() && mode.is_weak() {",
        tests: &["-p", "percosql-txn", "--lib", "spilled_tests"],
    },
    Mutant {
        name: "spilled row locks outlive a rollback to a savepoint",
        file: "txn/src/locks/spilled.rs",
        original: "        self.rows.write().rollback_to(command, last);\n",
        broken: "        let _ = last;\n",
        tests: &["-p", "percosql-txn", "--lib", "spilled_tests"],
    },
    Mutant {
        name: "a row listed for others stays listed",
        file: "txn/src/locks/spilled.rs",
        original: "        std::mem::take(&mut listed.rows)\n",
        broken: "        Vec::new()\n",
        tests: &["-p", "percosql-txn", "--lib", "spilled_tests"],
    },
    Mutant {
        name: "a large commit takes no memory",
        file: "txn/src/commit_memory.rs",
        original: "if bytes < LITTLE {",
        broken: "if bytes < usize::MAX {",
        tests: &["-p", "percosql-txn", "--lib", "commit_memory"],
    },
    Mutant {
        name: "groups around the own one are not looked at",
        file: "server/src/memory_limit.rs",
        original: "let around = folder.ancestors().take_while(|folder| folder.starts_with(&hierarchy.folder));",
        broken: "let around = folder.ancestors().take(1);",
        tests: &["-p", "percosql", "--lib", "memory_limit"],
    },
];
