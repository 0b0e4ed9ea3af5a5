//! The planted bugs in what sessions promise: constraints, plans that are kept, definitions, portals. Knows the text of the source and
//! nothing else.

use super::Mutant;

/// Those bugs.
pub const SESSIONS: &[Mutant] = &[
    Mutant {
        name: "a key that was looked at and rolled back is forgotten",
        file: "planner/src/session/referential/queue.rs",
        original: "self.later.extend(again.map(|(written, _, pending)| (written, pending)));",
        broken: "drop(again.count());",
        tests: &["-p", "percosql-planner", "--lib", "looked_at_again"],
    },
    Mutant {
        name: "COPY of what is written is held to nothing",
        file: "planner/src/session/copy/output.rs",
        original: "    Box::pin(enforce(database, &context)).await?;\n",
        broken: "",
        tests: &["-p", "percosql-planner", "--lib", "a_copy_of_what_is_written"],
    },
    Mutant {
        name: "plans do not know IntervalStyle",
        file: "planner/src/session/query.rs",
        original: "settings.date_format(), settings.interval_style())",
        broken: "settings.date_format(), Default::default())",
        tests: &["-p", "percosql-planner", "--lib", "how_its_constants_were_read"],
    },
    Mutant {
        name: "a constant of now is kept",
        file: "planner/src/session/plan_cache.rs",
        original: "if !planned.is_momentary() && ",
        broken: "if ",
        tests: &["-p", "percosql-planner", "--lib", "the_time_of_a_constant"],
    },
    Mutant {
        name: "plans keep the text that they came in",
        file: "planner/src/session/query.rs",
        original: "self.text.len().max(self.source_bytes)",
        broken: "self.text.len().min(self.source_bytes)",
        tests: &["-p", "percosql-planner", "--lib", "plans_of_long_texts"],
    },
    Mutant {
        name: "plans keep any number of catalogs",
        file: "planner/src/session/plan_cache.rs",
        original: "planned.catalog().version() != oldest",
        broken: "planned.catalog().version() != oldest || true",
        tests: &["-p", "percosql-planner", "--lib", "plans_of_long_texts"],
    },
    Mutant {
        name: "zeros of both signs are different keys",
        file: "planner/src/execution/lookup_join.rs",
        original: "columns.iter().map(with_one_zero).collect()",
        broken: "columns.to_vec()",
        tests: &["-p", "percosql-planner", "--lib", "both_zeros_are_one_key"],
    },
    Mutant {
        name: "a scan backwards is looked up forwards",
        file: "planner/src/execution/lookup_scan.rs",
        original: "(self.is_whole() || scan.bounds().is_one_range()) && !scan.is_reverse()",
        broken: "self.is_whole() || scan.bounds().is_one_range() && !scan.is_reverse()",
        tests: &["-p", "percosql-planner", "--lib", "in_place_of_a_scan_backwards"],
    },
    Mutant {
        name: "a newer snapshot passes for that of the statement before",
        file: "planner/src/session/transaction.rs",
        original: "match counts || anew {",
        broken: "match counts {",
        tests: &["-p", "percosql-planner", "--lib", "a_definition_is_not_lost"],
    },
    Mutant {
        name: "DEFAULT 'now' is read by each INSERT",
        file: "planner/src/ddl/create_table.rs",
        original: "return Ok(Some(fixed));",
        broken: "drop(fixed);",
        tests: &["-p", "percosql-planner", "--lib", "a_default_of_now"],
    },
    Mutant {
        name: "the newest of many versions is removed before the others",
        file: "txn/src/gc.rs",
        original: "if age == 0 && (cut || ",
        broken: "if age == 0 && (",
        tests: &["-p", "percosql-txn", "--lib", "more_versions_than_are_looked_at"],
    },
    Mutant {
        name: "a row of many versions is looked at once",
        file: "txn/src/gc.rs",
        original: "            for key in cut {",
        broken: "            for key in Vec::<bytes::Bytes>::new() {",
        tests: &["-p", "percosql-txn", "--lib", "more_versions_than_are_looked_at"],
    },
    Mutant {
        name: "a batch of several families has any number of bytes",
        file: "storage/src/embedded/reader.rs",
        original: " || examined == EXAMINED_ROWS || bytes >= MOST_BYTES {",
        broken: " || examined == EXAMINED_ROWS || bytes == usize::MAX {",
        tests: &["-p", "percosql-storage", "--lib", "bounded_in_bytes"],
    },
    Mutant {
        name: "what is undone last of a new sequence is given again",
        file: "planner/src/catalog/sequences.rs",
        original: "last.map_or(stored, |last| further(stored, last, table))",
        broken: "last.map_or(stored, |_| stored)",
        tests: &["-p", "percosql-planner", "--lib", "gives_no_value_of_a_new_sequence"],
    },
    Mutant {
        name: "the value of a sequence that was restarted stays for ever",
        file: "planner/src/ddl/sequence.rs",
        original: "    writer.drop_storage(sequence.storage_id)?;\n",
        broken: "",
        tests: &["-p", "percosql-planner", "--lib", "a_sequence_that_was_restarted"],
    },
    Mutant {
        name: "a chain of WITH queries is planned however long",
        file: "planner/src/bind/with.rs",
        original: "        if is_too_large(&plan) {",
        broken: "        if is_too_large(&plan) && plan.schema().fields().is_empty() {",
        tests: &["-p", "percosql-planner", "--lib", "name_each_other_too_often"],
    },
    Mutant {
        name: "a text of any length is begun",
        file: "planner/src/functions/typed.rs",
        original: "    if bytes > MAX_TEXT || before",
        broken: "    if before",
        tests: &["-p", "percosql-planner", "--lib", "a_text_that_would_be_too_long"],
    },
    Mutant {
        name: "a connection begins where somebody computes",
        file: "server/src/reactor.rs",
        original: "fewest(LONG).or_else(|| fewest(STUCK))",
        broken: "fewest(Duration::MAX)",
        tests: &["-p", "percosql", "--lib", "a_new_task_begins_beside"],
    },
];
