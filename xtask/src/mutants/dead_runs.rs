//! Planted bugs in the embedded store's record of runs of deleted rows.

use super::Mutant;

/// Bugs in the record of deleted rows.
pub const DEAD_RUNS: &[Mutant] = &[
    Mutant {
        name: "a row that is written stays within a run of deleted ones",
        file: "storage/src/embedded/dead_runs.rs",
        original: "                    state.changed(&at);\n",
        broken: "",
        tests: &["-p", "percosql-storage", "--lib", "dead_runs"],
    },
    Mutant {
        name: "a run of deleted rows is noted although a row of it was written meanwhile",
        file: "storage/src/embedded/dead_runs.rs",
        original: "if changed || lower < &*watched.lower",
        broken: "if lower < &*watched.lower",
        tests: &["-p", "percosql-storage", "--lib", "dead_runs"],
    },
    Mutant {
        name: "a run of deleted rows is gone over by snapshots that see them",
        file: "storage/src/embedded/dead_runs.rs",
        original: "&& run.newest <= snapshot)",
        broken: "&& run.newest.0 > 0)",
        tests: &["-p", "percosql-storage", "--lib", "dead_runs"],
    },
];
