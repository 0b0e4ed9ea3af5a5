//! Facts about the rows of system views for planning: expected row counts and unique columns.

/// The assumed row count of a view, as in a small database. It affects the order of joins.
pub fn expected_rows(view: &str) -> usize {
    match view {
        "pg_attribute" | "columns" => 4000,
        "pg_proc" | "pg_depend" => 3000,
        "pg_description" => 2000,
        "pg_operator" => 800,
        "pg_type" => 700,
        "pg_class" | "tables" => 400,
        "pg_constraint" | "pg_index" | "pg_attrdef" | "pg_cast" => 200,
        "pg_namespace" | "pg_database" | "pg_range" | "pg_am" | "pg_tablespace" | "pg_extension" | "pg_language" => 10,
        _ => 1000,
    }
}

/// The unique columns of a view, from PostgreSQL's unique indexes. Empty if there are none.
pub fn unique_keys(view: &str) -> &'static [&'static [&'static str]] {
    match view {
        "pg_attribute" => &[&["attrelid", "attnum"], &["attrelid", "attname"]],
        "pg_attrdef" => &[&["oid"], &["adrelid", "adnum"]],
        "pg_description" => &[&["objoid", "classoid", "objsubid"]],
        "pg_index" => &[&["indexrelid"]],
        "pg_namespace" => &[&["oid"], &["nspname"]],
        "pg_range" => &[&["rngtypid"], &["rngmultitypid"]],
        "pg_sequence" => &[&["seqrelid"]],
        _ => &[&["oid"]],
    }
}
