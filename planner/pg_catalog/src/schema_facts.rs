//! `information_schema.information_schema_catalog_name` and `character_sets`, with one row each. The standard's
//! self-descriptions of a database: `sql_implementation_info`, `sql_sizing`, `sql_parts`.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const CATALOG_NAME: Definition = Definition {
    oid: 13118,
    name: "information_schema.information_schema_catalog_name",
    columns: "catalog_name name",
    fill: Fill::Now(|context, rows| rows.add([("catalog_name", value::text(&context.catalog.database().name))])),
};

pub(super) const CHARACTER_SETS: Definition = Definition {
    oid: 13143,
    name: "information_schema.character_sets",
    columns: "character_set_catalog name, character_set_schema name, character_set_name name, character_repertoire name, \
              form_of_use name, default_collate_catalog name, default_collate_schema name, default_collate_name name",
    fill: Fill::Now(character_sets),
};

fn character_sets(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = || value::text(&context.catalog.database().name);
    rows.add([
        ("character_set_name", value::text("UTF8")),
        ("character_repertoire", value::text("UCS")),
        ("form_of_use", value::text("UTF8")),
        ("default_collate_catalog", database()),
    ])
}

pub(super) const IMPLEMENTATION: Definition = Definition {
    oid: 13396,
    name: "information_schema.sql_implementation_info",
    columns: "implementation_info_id varchar, implementation_info_name varchar, integer_value int4, character_value \
              varchar, comments varchar",
    fill: Fill::Fixed(|rows| {
        for (id, name, number, word, comment) in [
            ("10003", "CATALOG NAME", None, Some("Y"), None),
            ("10004", "COLLATING SEQUENCE", None, Some(""), None),
            ("13", "SERVER NAME", None, Some(""), None),
            ("17", "DBMS NAME", None, Some("PostgreSQL"), None),
            ("18", "DBMS VERSION", None, Some("15.00.0000"), None),
            ("2", "DATA SOURCE NAME", None, Some(""), None),
            ("23", "CURSOR COMMIT BEHAVIOR", Some(1), None, Some("close cursors and retain prepared statements")),
            ("26", "DEFAULT TRANSACTION ISOLATION", Some(2), None, Some("READ COMMITTED; user-settable")),
            ("28", "IDENTIFIER CASE", Some(3), None, Some("stored in mixed case - case sensitive")),
            ("46", "TRANSACTION CAPABLE", Some(2), None, Some("both DML and DDL")),
            ("85", "NULL COLLATION", Some(0), None, Some("nulls higher than non-nulls")),
            ("94", "SPECIAL CHARACTERS", None, Some(""), Some("all non-ASCII characters allowed")),
        ] {
            rows.add([
                ("implementation_info_id", value::text(id)),
                ("implementation_info_name", value::text(name)),
                ("integer_value", Datum::Int32(number)),
                ("character_value", value::optional(word)),
                ("comments", value::optional(comment)),
            ])?;
        }
        Ok(())
    }),
};

/// 0 stands for no limit, and NULL for an unknown limit.
pub(super) const SIZING: Definition = Definition {
    oid: 13406,
    name: "information_schema.sql_sizing",
    columns: "sizing_id int4, sizing_name varchar, supported_value int4, comments varchar",
    fill: Fill::Fixed(|rows| {
        for (id, name, most) in [
            (0, "MAXIMUM DRIVER CONNECTIONS", None),
            (1, "MAXIMUM CONCURRENT ACTIVITIES", Some(0)),
            (30, "MAXIMUM COLUMN NAME LENGTH", Some(63)),
            (31, "MAXIMUM CURSOR NAME LENGTH", Some(63)),
            (32, "MAXIMUM SCHEMA NAME LENGTH", Some(63)),
            (34, "MAXIMUM CATALOG NAME LENGTH", Some(63)),
            (35, "MAXIMUM TABLE NAME LENGTH", Some(63)),
            (97, "MAXIMUM COLUMNS IN GROUP BY", Some(0)),
            (99, "MAXIMUM COLUMNS IN ORDER BY", Some(0)),
            (100, "MAXIMUM COLUMNS IN SELECT", Some(1664)),
            (101, "MAXIMUM COLUMNS IN TABLE", Some(1600)),
            (106, "MAXIMUM TABLES IN SELECT", Some(0)),
            (107, "MAXIMUM USER NAME LENGTH", Some(63)),
            (10_005, "MAXIMUM IDENTIFIER LENGTH", Some(63)),
            (20_000, "MAXIMUM STATEMENT OCTETS", Some(0)),
            (20_001, "MAXIMUM STATEMENT OCTETS DATA", Some(0)),
            (20_002, "MAXIMUM STATEMENT OCTETS SCHEMA", Some(0)),
            (25_000, "MAXIMUM CURRENT DEFAULT TRANSFORM GROUP LENGTH", None),
            (25_001, "MAXIMUM CURRENT TRANSFORM GROUP LENGTH", None),
            (25_002, "MAXIMUM CURRENT PATH LENGTH", Some(0)),
            (25_003, "MAXIMUM CURRENT ROLE LENGTH", None),
            (25_004, "MAXIMUM SESSION USER LENGTH", Some(63)),
            (25_005, "MAXIMUM SYSTEM USER LENGTH", Some(63)),
        ] {
            let of_names = most == Some(63);
            rows.add([
                ("sizing_id", Datum::from(id)),
                ("sizing_name", value::text(name)),
                ("supported_value", Datum::Int32(most)),
                ("comments", value::optional(of_names.then_some("Might be less, depending on character set."))),
            ])?;
        }
        Ok(())
    }),
};

/// No part of the standard is supported completely.
pub(super) const PARTS: Definition = Definition {
    oid: 13401,
    name: "information_schema.sql_parts",
    columns: "feature_id varchar, feature_name varchar, is_supported varchar, is_verified_by varchar, comments varchar",
    fill: Fill::Fixed(|rows| {
        for (id, name) in [
            ("1", "Framework (SQL/Framework)"),
            ("10", "Object Language Bindings (SQL/OLB)"),
            ("11", "Information and Definition Schema (SQL/Schemata)"),
            ("13", "Routines and Types Using the Java Programming Language (SQL/JRT)"),
            ("14", "XML-Related Specifications (SQL/XML)"),
            ("15", "Multi-Dimensional Arrays (SQL/MDA)"),
            ("2", "Foundation (SQL/Foundation)"),
            ("3", "Call-Level Interface (SQL/CLI)"),
            ("4", "Persistent Stored Modules (SQL/PSM)"),
            ("9", "Management of External Data (SQL/MED)"),
        ] {
            rows.add([
                ("feature_id", value::text(id)),
                ("feature_name", value::text(name)),
                ("is_supported", value::text("NO")),
            ])?;
        }
        Ok(())
    }),
};
