//! Planted bugs in access control and in the isolation of clients from each other.

use super::Mutant;

/// Bugs in access control.
pub const ACCESS: &[Mutant] = &[
    Mutant {
        name: "others may read the data directory",
        file: "server/src/data_directory.rs",
        original: "const FORBIDDEN: u32 = 0o027;",
        broken: "const FORBIDDEN: u32 = 0o022;",
        tests: &["-p", "percosql", "--lib", "data_directory"],
    },
    Mutant {
        name: "the key of TLS may be read by all",
        file: "server/src/data_directory.rs",
        original: "        _ => 0o177,\n",
        broken: "        _ => 0o133,\n",
        tests: &["-p", "percosql", "--lib", "data_directory"],
    },
    Mutant {
        name: "who has no password is trusted although others have one",
        file: "server/src/connection/auth.rs",
        original: "(shared.access.trust_loopback || !found.any_password)",
        broken: "(shared.access.trust_loopback || found.role.as_ref().is_some_and(|role| role.verifier.is_none()))",
        tests: &["-p", "percosql-tests", "--test", "encryption", "a_role_with_a_password"],
    },
    Mutant {
        name: "the salt of a role without a password changes each time",
        file: "server/src/connection/auth.rs",
        original: "hmac::sign(&key, user.as_bytes()).as_ref()",
        broken: "hmac::sign(&key, &rand::random::<[u8; 8]>()).as_ref()",
        tests: &["-p", "percosql", "--lib", "a_role_without_a_verifier"],
    },
    Mutant {
        name: "all places are for everybody",
        file: "server/src/connection/cancel.rs",
        original: "if left <= self.reserved() && !superuser {",
        broken: "if left == 0 && !superuser {",
        tests: &["-p", "percosql", "--lib", "the_last_places"],
    },
    Mutant {
        name: "the newest socket gives way",
        file: "server/src/waiting_room.rs",
        original: "networks.entry(guest.network).or_insert((0, *number)).0 += 1;",
        broken: "let entry = networks.entry(guest.network).or_insert((0, *number)); *entry = (entry.0 + 1, *number);",
        tests: &["-p", "percosql", "--lib", "waiting_room"],
    },
    Mutant {
        name: "one session may have all locks of a kind",
        file: "txn/src/locks/held_counts.rs",
        original: "of_kind < MOST_OF_KIND && of_locker < MOST_OF_LOCKER",
        broken: "of_kind < MOST_OF_KIND",
        tests: &["-p", "percosql-txn", "--lib", "held_counts"],
    },
    Mutant {
        name: "a client that takes nothing cannot be terminated",
        file: "server/src/connection/mod.rs",
        original: "                () = &mut self.ending => {}\n",
        broken: "                () = std::future::pending::<()>() => {}\n",
        tests: &["-p", "percosql-tests", "--test", "cancel", "a_client_that_does_not_read"],
    },
    Mutant {
        name: "a client that takes nothing holds up a stop",
        file: "server/src/connection/mod.rs",
        original: "                () = tokio::time::sleep(STALLED) => return Err(self.stalled()),\n",
        broken: "",
        tests: &["-p", "percosql-tests", "--test", "cancel", "a_client_that_does_not_read"],
    },
    Mutant {
        name: "what was written is written again",
        file: "server/src/protocol/output.rs",
        original: "written => self.written += written,",
        broken: "written => self.written = written.min(self.written + written),",
        tests: &["-p", "percosql-tests", "--test", "cancel", "a_client_that_does_not_read"],
    },
    Mutant {
        name: "rows before one that fails are lost",
        file: "planner/src/execution/projected.rs",
        original: "        if pieces.is_empty() {\n",
        broken: "        if !pieces.is_empty() || pieces.is_empty() {\n",
        tests: &["-p", "percosql-planner", "--lib", "rows_before_the_one"],
    },
    Mutant {
        name: "SET LOCAL ends with its statement",
        file: "planner/src/session/set.rs",
        original: "        self.warn_of_local(local && alone);\n        match name {",
        broken: "        if local && self.block.is_implicit() { return Ok(()); }\n        match name {",
        tests: &["-p", "percosql-planner", "--lib", "set_local_holds"],
    },
    Mutant {
        name: "outside texts begin lines of the log",
        file: "server/src/log_text.rs",
        original: "character.is_control() ||",
        broken: "character == '\\u{1b}' ||",
        tests: &["-p", "percosql", "--lib", "log_text"],
    },
    Mutant {
        name: "direct TLS needs no name of the protocol",
        file: "server/src/connection/startup.rs",
        original: "    if stream.get_ref().1.alpn_protocol() != Some(PROTOCOL_NAME) {",
        broken: "    if stream.get_ref().1.alpn_protocol().is_some_and(|name| name != PROTOCOL_NAME) {",
        tests: &["-p", "percosql-tests", "--test", "encryption", "tls_may_begin"],
    },
    Mutant {
        name: "a thread that falls asleep takes tasks along",
        file: "server/src/reserve.rs",
        original: "    tokio::task::block_in_place(|| ());\n",
        broken: "",
        tests: &["-p", "percosql", "--lib", "takes_no_task_along"],
    },
];
