//! Correlated subqueries over an in-memory store, with hand-made logical plans.

use crate::Result;
use crate::execution::table_source;
use crate::plan::PreparedPlan;
use crate::plan_tests::testing::World;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::common::Column;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, col, exists, in_subquery, lit, out_ref_col, scalar_subquery,
};
use std::sync::Arc;

/// Makes a scan of the table with an alias.
type Scan<'a> = &'a dyn Fn(&str) -> LogicalPlanBuilder;

fn prepare(world: &World, build: fn(Scan) -> Result<LogicalPlan>) -> Arc<PreparedPlan> {
    let table = world.table.clone();
    PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| {
            build(&|alias| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None).unwrap())
        }),
    )
}

async fn run(world: &World, plan: &Arc<PreparedPlan>) -> Result<Vec<RecordBatch>> {
    let transaction = world.begin();
    plan.run(world.context(&transaction, vec![])).await?.collect().await
}

fn ints(batches: &[RecordBatch], column: usize) -> Vec<Option<i32>> {
    batches
        .iter()
        .flat_map(|batch| batch.column(column).as_primitive::<Int32Type>().iter().collect::<Vec<_>>())
        .collect()
}

fn truths(batches: &[RecordBatch], column: usize) -> Vec<Option<bool>> {
    batches.iter().flat_map(|batch| batch.column(column).as_boolean().iter().collect::<Vec<_>>()).collect()
}

fn outer(name: &str) -> Expr {
    out_ref_col(DataType::Int32, Column::from_qualified_name(name))
}

fn a(i: i32) -> Option<i32> {
    (i % 7 != 0).then_some(i % 10)
}

#[tokio::test]
async fn a_scalar_subquery_by_key_in_the_select_list() {
    let world = World::new(30).await;
    let plan = prepare(&world, |scan| {
        let inner = scan("s").filter(col("s.id").eq(outer("t.a")))?.project([col("s.id").alias("c0")])?.build()?;
        Ok(scan("t").project([col("t.id"), scalar_subquery(Arc::new(inner)).alias("c1")])?.build()?)
    });
    for _ in 0..2 {
        let rows = run(&world, &plan).await.unwrap();
        assert_eq!(ints(&rows, 0), (0..30).map(Some).collect::<Vec<_>>());
        assert_eq!(ints(&rows, 1), (0..30).map(a).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_scalar_subquery_with_order_and_limit() {
    let world = World::new(30).await;
    let plan = prepare(&world, |scan| {
        let inner = scan("s").filter(col("s.a").eq(outer("t.a")))?;
        let inner = inner.sort([col("s.id").sort(false, true)])?.limit(0, Some(1))?.project([col("s.id")])?.build()?;
        Ok(scan("t").project([col("t.id"), scalar_subquery(Arc::new(inner)).alias("c1")])?.build()?)
    });
    let rows = run(&world, &plan).await.unwrap();
    let last = |i: i32| a(i).and_then(|value| (0..30).rev().find(|other| a(*other) == Some(value)));
    assert_eq!(ints(&rows, 1), (0..30).map(last).collect::<Vec<_>>());
}

#[tokio::test]
async fn two_rows_for_one_value_are_an_error() {
    let world = World::new(30).await;
    let plan = prepare(&world, |scan| {
        let inner = scan("s").filter(col("s.a").eq(outer("t.a")))?.project([col("s.id")])?.build()?;
        Ok(scan("t").project([scalar_subquery(Arc::new(inner)).alias("c1")])?.build()?)
    });
    let error = run(&world, &plan).await.unwrap_err();
    assert_eq!(error.state(), crate::state::CARDINALITY_VIOLATION);
}

#[tokio::test]
async fn exists_in_the_select_list() {
    let world = World::new(20).await;
    let plan = prepare(&world, |scan| {
        let some = scan("s").filter(col("s.id").eq(outer("t.a")).and(col("s.id").gt(lit(5))))?.build()?;
        let none = scan("u").filter(col("u.id").gt(lit(1000)))?.build()?;
        let expressions = [exists(Arc::new(some)).alias("c1"), exists(Arc::new(none)).alias("c2")];
        Ok(scan("t").project(expressions)?.build()?)
    });
    let rows = run(&world, &plan).await.unwrap();
    assert_eq!(truths(&rows, 0), (0..20).map(|i| Some(a(i).is_some_and(|a| a > 5))).collect::<Vec<_>>());
    assert_eq!(truths(&rows, 1), vec![Some(false); 20]);
}

#[tokio::test]
async fn in_with_a_limit_inside() {
    let world = World::new(20).await;
    let plan = prepare(&world, |scan| {
        let inner = scan("s").filter(col("s.id").gt_eq(outer("t.a")))?;
        let inner = inner.sort([col("s.id").sort(true, false)])?.limit(0, Some(2))?.project([col("s.id")])?.build()?;
        Ok(scan("t").filter(in_subquery(col("t.id"), Arc::new(inner)))?.project([col("t.id")])?.build()?)
    });
    let rows = run(&world, &plan).await.unwrap();
    let expected = |i: &i32| a(*i).is_some_and(|a| *i == a || *i == a + 1);
    assert_eq!(ints(&rows, 0), (0..20).filter(expected).map(Some).collect::<Vec<_>>());
}

#[tokio::test]
async fn aggregates_and_exists_in_filters_become_joins() {
    let world = World::new(40).await;
    let plan = prepare(&world, |scan| {
        let aggregate = datafusion::functions_aggregate::expr_fn::max(col("s.id"));
        let none: [Expr; 0] = [];
        let inner = scan("s").filter(col("s.a").eq(outer("t.a")))?.aggregate(none, [aggregate.alias("c0")])?;
        let inner = inner.project([col("c0")])?.build()?;
        let other = scan("u").filter(col("u.id").eq(outer("t.id")))?.build()?;
        let filter = col("t.id").eq(scalar_subquery(Arc::new(inner))).and(exists(Arc::new(other)));
        Ok(scan("t").filter(filter)?.project([col("t.id")])?.build()?)
    });
    let rows = run(&world, &plan).await.unwrap();
    let greatest = |i: &i32| a(*i).is_some_and(|value| (i + 1..40).all(|other| a(other) != Some(value)));
    let mut found = ints(&rows, 0);
    found.sort();
    assert_eq!(found, (0..40).filter(greatest).map(Some).collect::<Vec<_>>());
}

#[tokio::test]
async fn subqueries_in_subqueries() {
    let world = World::new(20).await;
    let plan = prepare(&world, |scan| {
        // (SELECT (SELECT u.id FROM u WHERE u.id = s.id AND u.id = t.a) FROM s WHERE s.id = t.a)
        let innermost = scan("u").filter(col("u.id").eq(outer("s.id")).and(col("u.id").eq(outer("t.a"))))?;
        let innermost = scalar_subquery(Arc::new(innermost.project([col("u.id").alias("c0")])?.build()?));
        let inner = scan("s").filter(col("s.id").eq(outer("t.a")))?.project([innermost.alias("c1")])?.build()?;
        Ok(scan("t").project([scalar_subquery(Arc::new(inner)).alias("c2")])?.build()?)
    });
    let rows = run(&world, &plan).await.unwrap();
    assert_eq!(ints(&rows, 0), (0..20).map(a).collect::<Vec<_>>());
}
