//! Estimates, compared with shares that were computed by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use catalog::StoredValue;
use catalog::{TableBuilder, TableStatistics};
use datafusion::logical_expr::{col, lit};
use std::sync::Arc;

fn stored(number: i32) -> StoredValue {
    let mut key = Vec::new();
    let value = datafusion::scalar::ScalarValue::from(number);
    KeyEncoder::new(vec![KeyColumn::ascending(SqlType::INT4)]).encode_datums(&[value], &mut key).unwrap();
    StoredValue { key, text: number.to_string() }
}

/// 1000 rows. `a`: 10 % are NULL, 30 % are 7, the other 60 % are spread over 0 to 600; 61 values in total. `b`: unique.
fn table() -> TableDescriptor {
    let mut table = TableBuilder::new(1000, "t")
        .column("a", SqlType::INT4)
        .column("b", SqlType::INT8)
        .column("c", SqlType::TEXT)
        .build();
    let of = |column, ty| ColumnStatistics {
        column,
        ty,
        null_fraction: 0.0,
        width: 4.0,
        distinct: -1.0,
        common: vec![],
        histogram: vec![],
    };
    let a = ColumnStatistics {
        null_fraction: 0.1,
        distinct: 61.0,
        common: vec![(stored(7), 0.3)],
        histogram: (0..=10).map(|part| stored(part * 60)).collect(),
        ..of(1, SqlType::INT4)
    };
    let columns = vec![a, of(2, SqlType::INT8)];
    table.statistics =
        Some(Arc::new(TableStatistics { number: 1, rows: 1000.0, gathered: 0, automatic: false, columns }));
    table
}

#[track_caller]
fn check(filter: Expr, expected: f64) {
    let found = selectivity(&table(), std::slice::from_ref(&filter)).unwrap();
    assert!((found - expected).abs() < 0.0005, "{filter}: {found}, not {expected}");
}

#[test]
fn equal_to_values() {
    check(col("a").eq(lit(7)), 0.3);
    check(col("a").eq(lit(8)), 0.6 / 60.0);
    check(col("a").eq(datafusion::logical_expr::placeholder("$1")), 0.9 / 61.0);
    check(col("b").eq(lit(5_i64)), 0.001);
    check(col("a").in_list(vec![lit(7), lit(8)], false), 0.31);
    check(col("a").is_null(), 0.1);
    check(col("a").is_not_null(), 0.9);
    check(col("a").not_eq(lit(7)), 0.6);
    // There are no statistics of c.
    check(col("c").eq(lit("x")), PATTERN);
    assert_eq!(selectivity(&TableBuilder::new(1, "u").column("a", SqlType::INT4).build(), &[]), None);
}

#[test]
fn ranges_of_values() {
    check(col("a").lt(lit(300)), 0.3 + 0.3);
    check(col("a").gt_eq(lit(300)), 0.3);
    check(col("a").gt(lit(7)), 0.6 * (1.0 - 7.0 / 600.0));
    check(col("a").gt_eq(lit(60)).and(col("a").lt(lit(120))), 0.06);
    check(col("a").between(lit(90), lit(150)), 0.06);
    check(col("a").gt(lit(10_000)), 1e-9);
    check(col("a").lt(datafusion::logical_expr::placeholder("$1")), 0.3);
    let one = datafusion::logical_expr::placeholder("$1");
    check(col("b").between(one.clone(), one), BETWEEN);
}

#[test]
fn several_conditions() {
    check(col("a").eq(lit(7)).or(col("a").is_null()), 0.3 + 0.1 - 0.03);
    check(col("a").eq(lit(7)).and(col("b").eq(lit(1_i64))), 0.3 * 0.001);
    assert_eq!(rows_left(&table(), &[col("b").eq(lit(1_i64)), col("a").eq(lit(8))]), Some(1.0));
}

#[test]
fn of_a_column_of_another_type_nothing_is_known() {
    let mut table = table();
    table.columns[0].ty = SqlType::TEXT;
    let share = selectivity(&table, &[col("a").eq(lit("x"))]).unwrap();
    assert_eq!(share, PATTERN);
}
