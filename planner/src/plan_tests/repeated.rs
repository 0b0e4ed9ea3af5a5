//! Plans that run repeatedly, over an in-memory store, with hand-made logical plans.

use crate::execution::limit::limit;
use crate::execution::slot_function::stable_placeholder;
use crate::execution::{Slots, StatementContext, table_source};
use crate::plan::{Engine, PlanRows, PreparedPlan};
use crate::plan_tests::testing::World;
use crate::types::Datum;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, TimestampMicrosecondType};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, col, lit};
use datafusion::physical_plan::displayable;
use futures::TryStreamExt;
use std::sync::Arc;

fn parameter(number: usize, data_type: DataType) -> Expr {
    let id = format!("${number}");
    let field = Arc::new(Field::new(&id, data_type, true));
    Expr::Placeholder(Placeholder::new_with_field(id, Some(field)))
}

fn int(value: i32) -> Datum {
    Datum::Int32(Some(value))
}

fn scan(world: &World, slots: &Arc<Slots>) -> LogicalPlanBuilder {
    LogicalPlanBuilder::scan("t", table_source(world.table.clone(), slots.clone()), None).unwrap()
}

type Shape = fn(LogicalPlanBuilder) -> LogicalPlanBuilder;

fn prepare(world: &World, shape: Shape) -> Arc<PreparedPlan> {
    let table = world.table.clone();
    PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| {
            let scan = LogicalPlanBuilder::scan("t", table_source(table.clone(), slots.clone()), None)?;
            Ok(shape(scan).build()?)
        }),
    )
}

async fn run(plan: &Arc<PreparedPlan>, context: Arc<StatementContext>) -> Vec<RecordBatch> {
    plan.run(context).await.unwrap().collect().await.unwrap()
}

fn ints(batches: &[RecordBatch], column: usize) -> Vec<Option<i32>> {
    batches
        .iter()
        .flat_map(|batch| batch.column(column).as_primitive::<Int32Type>().iter().collect::<Vec<_>>())
        .collect()
}

/// The physical plan, with one line per operator.
async fn explain(world: &World, shape: Shape) -> String {
    let slots = Slots::new();
    let logical = shape(scan(world, &slots)).build().unwrap();
    let plan = world.engine.plan(&logical, &slots).await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}

#[tokio::test]
async fn a_plan_runs_again_with_other_parameters() {
    let world = World::new(100).await;
    let plan = prepare(&world, |t| {
        t.filter(col("id").eq(parameter(1, DataType::Int32))).unwrap().project([col("id"), col("a"), col("b")]).unwrap()
    });
    for id in [3, 99, 3, 1000, 11] {
        let rows = run(&plan, world.context(&world.begin(), vec![int(id)])).await;
        let expected = if id < 100 { vec![Some(id)] } else { vec![] };
        assert_eq!(ints(&rows, 0), expected);
    }
    let none = run(&plan, world.context(&world.begin(), vec![Datum::Int32(None)])).await;
    assert_eq!(ints(&none, 0), vec![]);
    assert_eq!(plan.idle_instances().0, 1, "one instance served all runs");
}

#[tokio::test]
async fn one_row_is_read_without_a_stream_and_as_a_stream_would() {
    let world = World::new(100).await;
    let plan = prepare(&world, |t| {
        let by_key = t.filter(col("id").eq(parameter(1, DataType::Int32))).unwrap();
        by_key.project([lit(1000) / (col("id") - lit(50)), col("id")]).unwrap()
    });
    let rows = |id| world.context(&world.begin(), vec![id]);
    for id in [int(60), int(1000), Datum::Int32(None), int(51)] {
        let direct = plan.run(rows(id.clone())).await.unwrap();
        assert!(matches!(direct, PlanRows::Done { .. }), "one key is one row at most");
        let mut lease = plan.lease(&rows(id.clone())).await.unwrap();
        let stream = lease.instance().unwrap().start(rows(id)).unwrap();
        assert_eq!(direct.schema(), stream.schema());
        let streamed: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        assert_eq!(direct.collect().await.unwrap(), streamed);
    }
    let failed = plan.run(rows(int(50))).await.unwrap().collect().await;
    assert!(failed.is_err(), "a division by zero");
    let again = run(&plan, rows(int(60))).await;
    assert_eq!(ints(&again, 1), vec![Some(60)], "the plan works again after an error");
    assert_eq!(plan.idle_instances().0, 1);
    let several = prepare(&world, |t| t.filter(col("id").in_list(vec![lit(1), lit(2)], false)).unwrap());
    assert!(matches!(several.run(rows(int(0))).await.unwrap(), PlanRows::Stream(_)), "two keys are two rows");
}

#[tokio::test]
async fn the_first_rows_of_a_range_are_read_without_a_stream_and_as_a_stream_would() {
    let world = World::new(100).await;
    let below = |t: LogicalPlanBuilder| t.filter(col("id").lt(parameter(1, DataType::Int32))).unwrap();
    let backwards = |t: LogicalPlanBuilder| t.sort([col("id").sort(false, true)]).unwrap().limit(0, Some(5)).unwrap();
    let shapes: [Shape; 5] = [
        |t| t.limit(0, Some(64)).unwrap(),
        |t| t.sort([col("id").sort(false, true)]).unwrap().limit(0, Some(5)).unwrap(),
        |t| t.sort([col("id").sort(true, false)]).unwrap().limit(0, Some(5)).unwrap().project([col("b")]).unwrap(),
        |t| t.limit(0, Some(3)).unwrap().project([col("id") + lit(1), lit(7), col("b")]).unwrap(),
        |t| t.limit(0, Some(3)).unwrap().project([lit(6) / (col("id") - lit(99))]).unwrap(),
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let table = world.table.clone();
        let plan = PreparedPlan::new(
            Arc::clone(&world.engine),
            Box::new(move |slots| {
                let scan = LogicalPlanBuilder::scan("t", table_source(table.clone(), slots.clone()), None)?;
                Ok(shape(below(scan)).build()?)
            }),
        );
        for id in [int(50), int(3), int(0), Datum::Int32(None), int(1000)] {
            let context = || world.context(&world.begin(), vec![id.clone()]);
            let direct = plan.run(context()).await.unwrap();
            assert!(matches!(direct, PlanRows::Done { .. }), "shape {number}: few rows");
            let mut lease = plan.lease(&context()).await.unwrap();
            let stream = lease.instance().unwrap().start(context()).unwrap();
            assert_eq!(direct.schema(), stream.schema());
            let streamed: Vec<RecordBatch> = stream.try_collect().await.unwrap();
            assert_eq!(direct.collect().await.unwrap(), streamed, "shape {number} below {id}");
        }
        assert_eq!(plan.idle_instances().0, 1);
    }
    let many = prepare(&world, |t| t.limit(0, Some(65)).unwrap());
    assert!(matches!(many.run(world.context(&world.begin(), vec![])).await.unwrap(), PlanRows::Stream(_)));

    // The range contains own writes. A stream inserts them at their place, and is used some times before the next
    // attempt.
    let plan = prepare(&world, backwards);
    let writer = world.begin();
    world.insert(&writer, 100, 102).await;
    writer.advance_command();
    let rows = plan.run(world.context(&writer, vec![])).await.unwrap();
    assert!(matches!(rows, PlanRows::Stream(_)));
    let expected = [101, 100, 99, 98, 97].map(Some);
    assert_eq!(ints(&rows.collect().await.unwrap(), 0), expected);
    writer.commit().await.unwrap();
    let mut streams = 0;
    loop {
        let rows = plan.run(world.context(&world.begin(), vec![])).await.unwrap();
        let done = matches!(rows, PlanRows::Done { .. });
        assert_eq!(ints(&rows.collect().await.unwrap(), 0), expected);
        if done {
            break;
        }
        streams += 1;
        assert!(streams < 100, "never looked again");
    }
    assert!(streams > 0);
}

#[tokio::test]
async fn a_point_get_reads_one_key() {
    let world = World::new(100).await;
    let plan = explain(&world, |t| t.filter(col("id").eq(parameter(1, DataType::Int32))).unwrap()).await;
    assert_eq!(plan.trim(), "PointGetExec: t using t_pkey (id = $1)");
}

#[tokio::test]
async fn equalities_choose_their_index() {
    let world = World::new(10).await;
    let by_a = explain(&world, |t| t.filter(col("a").eq(parameter(1, DataType::Int32))).unwrap()).await;
    assert!(by_a.contains("IndexScanExec: t_a_idx on t (a = $1)"), "{by_a}");
    let by_b = explain(&world, |t| t.filter(col("b").eq(lit("x")).and(col("a").eq(lit(1)))).unwrap()).await;
    assert!(by_b.contains("t_b_key"), "a unique index before another: {by_b}");
    assert!(by_b.contains("FilterExec: a@1 = 1"), "{by_b}");
    let only =
        explain(&world, |t| t.filter(col("a").gt(lit(1))).unwrap().project([col("id"), col("a")]).unwrap()).await;
    assert!(only.contains("IndexScanExec: only t_a_idx on t (a > 1)"), "{only}");
    let none = explain(&world, |t| t.filter((col("a") + lit(1)).eq(lit(1))).unwrap()).await;
    assert!(none.contains("TableScanExec: t"), "{none}");
}

#[tokio::test]
async fn index_scans_agree_with_full_scans() {
    let world = World::new(200).await;
    let shapes: [(Shape, usize); 6] = [
        (|t| t.filter(col("a").eq(lit(3))).unwrap(), 17),
        (|t| t.filter(col("a").gt(lit(3)).and(col("a").lt_eq(lit(5)))).unwrap(), 34),
        (|t| t.filter(col("a").is_null()).unwrap(), 29),
        (|t| t.filter(col("a").in_list(vec![lit(1), lit(2), lit(1), lit(77)], false)).unwrap(), 34),
        (|t| t.filter(col("id").between(lit(10), lit(19))).unwrap(), 10),
        (|t| t.filter(col("a").eq(lit(3)).or(col("a").eq(lit(4)))).unwrap(), 34),
    ];
    for (position, (shape, _)) in shapes.into_iter().enumerate() {
        let plan = prepare(&world, shape);
        let found = ints(&run(&plan, world.context(&world.begin(), vec![])).await, 0);
        let all: Vec<i32> = (0..200).collect();
        let a = |i: i32| (i % 7 != 0).then_some(i % 10);
        let matches = |i: &i32| match position {
            0 => a(*i) == Some(3),
            1 => a(*i).is_some_and(|a| a > 3 && a <= 5),
            2 => a(*i).is_none(),
            3 => matches!(a(*i), Some(1 | 2)),
            4 => (10..20).contains(i),
            _ => matches!(a(*i), Some(3 | 4)),
        };
        let mut found: Vec<i32> = found.into_iter().flatten().collect();
        found.sort_unstable();
        assert_eq!(found, all.into_iter().filter(matches).collect::<Vec<_>>(), "shape {position}");
    }
}

#[tokio::test]
async fn keys_give_orders_without_a_sort() {
    let world = World::new(50).await;
    let descending =
        explain(&world, |t| t.sort([col("id").sort(false, true)]).unwrap().limit(0, Some(3)).unwrap()).await;
    assert!(!descending.contains("Sort"), "{descending}");
    assert!(descending.contains("TableScanExec: t reverse fetch=3"), "{descending}");
    let plan = prepare(&world, |t| t.sort([col("id").sort(false, true)]).unwrap().limit(0, Some(3)).unwrap());
    let rows = run(&plan, world.context(&world.begin(), vec![])).await;
    assert_eq!(ints(&rows, 0), vec![Some(49), Some(48), Some(47)]);
    let by_a = explain(&world, |t| t.sort([col("a").sort(true, false)]).unwrap().limit(0, Some(3)).unwrap()).await;
    assert!(!by_a.contains("Sort"), "{by_a}");
    assert!(by_a.contains("IndexScanExec: t_a_idx on t") && by_a.contains("fetch=3"), "{by_a}");
}

#[tokio::test]
async fn now_changes_in_a_plan_that_runs_again() {
    let world = World::new(1).await;
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(|_| {
            let now = stable_placeholder("now").unwrap();
            Ok(LogicalPlanBuilder::values(vec![vec![now, lit(1)]])?.build()?)
        }),
    );
    for time in [5, 6] {
        let rows = run(&plan, world.context_at(&world.begin(), vec![], time)).await;
        assert_eq!(rows[0].column(0).as_primitive::<TimestampMicrosecondType>().value(0), time);
    }
}

#[tokio::test]
async fn own_writes_of_earlier_commands_are_seen_and_later_ones_are_not() {
    let world = World::new(10).await;
    let plan = prepare(&world, |t| t);
    let transaction = world.begin();
    let before = world.context(&transaction, vec![]);
    world.insert(&transaction, 10, 15).await;
    assert_eq!(ints(&run(&plan, before).await, 0).len(), 10);
    transaction.advance_command();
    let rows = run(&plan, world.context(&transaction, vec![])).await;
    assert_eq!(ints(&rows, 0), (0..15).map(Some).collect::<Vec<_>>());
    let indexed = prepare(&world, |t| t.filter(col("a").eq(lit(1))).unwrap());
    let rows = run(&indexed, world.context(&transaction, vec![])).await;
    assert_eq!(ints(&rows, 0), vec![Some(1), Some(11)]);
}

#[tokio::test]
async fn busy_instances_do_not_serve_two_runs() {
    let world = World::new(100).await;
    let plan = prepare(&world, |t| t.filter(col("id").gt_eq(parameter(1, DataType::Int32))).unwrap());
    let first = plan.run(world.context(&world.begin(), vec![int(90)])).await.unwrap();
    let second = plan.run(world.context(&world.begin(), vec![int(95)])).await.unwrap();
    let (first, second): (Vec<_>, Vec<_>) = (first.collect().await.unwrap(), second.collect().await.unwrap());
    assert_eq!((ints(&first, 0).len(), ints(&second, 0).len()), (10, 5));
    assert_eq!(plan.idle_instances().0, 2);
}

#[tokio::test]
async fn limits_are_read_when_the_plan_runs() {
    let world = World::new(100).await;
    let plan = prepare(&world, |t| {
        let input = t.build().unwrap();
        let (skip, fetch) = (parameter(1, DataType::Int64), parameter(2, DataType::Int64));
        LogicalPlanBuilder::from(limit(input, Some(skip), Some(fetch)).unwrap())
    });
    let long = |value| Datum::Int64(value);
    let rows = run(&plan, world.context(&world.begin(), vec![long(Some(5)), long(Some(3))])).await;
    assert_eq!(ints(&rows, 0), vec![Some(5), Some(6), Some(7)]);
    let rows = run(&plan, world.context(&world.begin(), vec![long(None), long(None)])).await;
    assert_eq!(ints(&rows, 0).len(), 100);
    let error = match plan.run(world.context(&world.begin(), vec![long(Some(0)), long(Some(-1))])).await {
        Ok(_) => panic!("a negative LIMIT was accepted"),
        Err(error) => error,
    };
    assert_eq!(error.state(), crate::state::INVALID_ROW_COUNT_IN_LIMIT);
}

#[tokio::test]
async fn constant_limits_and_offsets_hold_over_every_scan() {
    let world = World::new(30).await;
    let shapes: [(&str, Shape, usize); 4] = [
        ("limit over a scan", |scan| scan.limit(0, Some(2)).unwrap(), 2),
        ("offset over a scan", |scan| scan.limit(1, Some(2)).unwrap(), 2),
        (
            "limit over key order",
            |scan| scan.sort([col("id").sort(true, false)]).unwrap().limit(0, Some(2)).unwrap(),
            2,
        ),
        ("offset beyond", |scan| scan.limit(29, Some(5)).unwrap(), 1),
    ];
    for (name, shape, expected) in shapes {
        let rows = run(&prepare(&world, shape), world.context(&world.begin(), vec![])).await;
        assert_eq!(ints(&rows, 0).len(), expected, "{name}");
    }
    let plan = prepare(&world, |scan| scan.sort([col("id").sort(true, false)]).unwrap().limit(1, Some(2)).unwrap());
    let all = ints(
        &run(
            &prepare(&world, |scan| scan.sort([col("id").sort(true, false)]).unwrap()),
            world.context(&world.begin(), vec![]),
        )
        .await,
        0,
    );
    assert_eq!(ints(&run(&plan, world.context(&world.begin(), vec![])).await, 0), all[1..3]);
}

#[tokio::test]
async fn limit_reads_few_rows() {
    let world = World::new(10_000).await;
    let plan = prepare(&world, |t| t.limit(0, Some(5)).unwrap());
    let transaction = world.begin();
    let rows = run(&plan, world.context(&transaction, vec![])).await;
    assert_eq!(ints(&rows, 0).len(), 5);
    let read = transaction.stats().keys_read;
    assert!(read <= 5, "{read} keys were read");
}

#[tokio::test]
async fn a_scalar_subquery_of_two_rows_is_an_error() {
    let world = World::new(10).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let least = parameter(1, DataType::Int32);
            let inner = scan("s")?.filter(col("s.id").gt_eq(least))?.project([col("s.id")])?.build()?;
            let filter = col("t.id").eq(datafusion::logical_expr::scalar_subquery(Arc::new(inner)));
            Ok(scan("t")?.filter(filter)?.build()?)
        }),
    );
    let rows = run(&plan, world.context(&world.begin(), vec![int(9)])).await;
    assert_eq!(ints(&rows, 0), vec![Some(9)]);
    let stream = plan.run(world.context(&world.begin(), vec![int(8)])).await.unwrap();
    let error: crate::SqlError = stream.collect().await.unwrap_err();
    assert_eq!(error.state(), crate::state::CARDINALITY_VIOLATION);
    let rows = run(&plan, world.context(&world.begin(), vec![int(9)])).await;
    assert_eq!(ints(&rows, 0), vec![Some(9)], "the plan works again after an error");
}

#[tokio::test]
async fn joins_and_sorts_run_again() {
    let world = World::new(100).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| -> crate::Result<LogicalPlan> {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let right = scan("r")?.build()?;
            let join = scan("l")?.join_on(
                right,
                datafusion::logical_expr::JoinType::Inner,
                [col("l.id").eq(col("r.a")), col("r.id").lt(parameter(1, DataType::Int32))],
            )?;
            Ok(join.sort([col("r.id").sort(false, false)])?.project([col("r.id"), col("l.id")])?.build()?)
        }),
    );
    for least in [10, 40, 10] {
        let rows = run(&plan, world.context(&world.begin(), vec![int(least)])).await;
        let expected: Vec<Option<i32>> = (0..least).rev().filter(|i| i % 7 != 0).map(Some).collect();
        assert_eq!(ints(&rows, 0), expected);
    }
}

#[tokio::test]
async fn joins_look_their_probe_side_up() {
    let world = World::new(5000).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| -> crate::Result<LogicalPlan> {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let left = scan("l")?.filter(col("l.id").eq(parameter(1, DataType::Int32)))?;
            let join = left.join_on(
                scan("r")?.build()?,
                datafusion::logical_expr::JoinType::Inner,
                [col("l.a").eq(col("r.id"))],
            )?;
            Ok(join.project([col("r.id"), col("r.b")])?.build()?)
        }),
    );
    for id in [15, 28, 4999, 15] {
        let transaction = world.begin();
        let rows = run(&plan, world.context(&transaction, vec![int(id)])).await;
        let expected = if id % 7 == 0 { vec![] } else { vec![Some(id % 10)] };
        assert_eq!(ints(&rows, 0), expected);
        let read = transaction.stats().keys_read;
        assert!(read <= 3, "{read} keys were read");
    }
}

#[tokio::test]
async fn look_ups_keep_the_order_that_is_asked_for() {
    let world = World::new(3000).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| -> crate::Result<LogicalPlan> {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let left = scan("l")?.filter(col("l.id").lt(parameter(1, DataType::Int32)))?;
            let right = scan("r")?.build()?;
            let join = left.join_on(right, datafusion::logical_expr::JoinType::Inner, [col("l.id").eq(col("r.a"))])?;
            Ok(join.sort([col("r.id").sort(true, false)])?.project([col("r.id"), col("r.b")])?.build()?)
        }),
    );
    // Few keys are looked up by the index on a, whose order is not that of id.
    for least in [3, 10] {
        let rows = run(&plan, world.context(&world.begin(), vec![int(least)])).await;
        let expected: Vec<_> = (0..3000).filter(|i| i % 7 != 0 && i % 10 < least).map(Some).collect();
        assert_eq!(ints(&rows, 0), expected);
    }
}

#[tokio::test]
async fn groups_are_looked_up_by_key() {
    let world = World::new(5000).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| -> crate::Result<LogicalPlan> {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let left = scan("l")?.filter(col("l.id").eq(parameter(1, DataType::Int32)))?;
            let least = datafusion::functions_aggregate::expr_fn::max(col("s.b"));
            let right = scan("s")?.aggregate([col("s.id")], [least.alias("c0")])?.build()?;
            let join = left.join_on(right, datafusion::logical_expr::JoinType::Left, [col("l.a").eq(col("s.id"))])?;
            Ok(join.project([col("l.id"), col("s.id"), col("c0")])?.build()?)
        }),
    );
    for id in [15, 14, 4999] {
        let transaction = world.begin();
        let rows = run(&plan, world.context(&transaction, vec![int(id)])).await;
        assert_eq!(ints(&rows, 0), vec![Some(id)]);
        assert_eq!(ints(&rows, 1), vec![(id % 7 != 0).then_some(id % 10)]);
        assert!(transaction.stats().keys_read <= 3, "{} keys were read", transaction.stats().keys_read);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scans_in_parallel_return_the_same_rows() {
    let world = World::new(20_000).await.with_partitions(2);
    let shape: Shape = |t| {
        let count = datafusion::functions_aggregate::expr_fn::max(col("id"));
        let groups = t.aggregate([col("a")], [count.alias("c0")]).unwrap();
        groups.sort([col("a").sort(true, false)]).unwrap()
    };
    let text = explain_with(&world, shape).await;
    let plan = prepare(&world, shape);
    for _ in 0..3 {
        let rows = run(&plan, world.context(&world.begin(), vec![])).await;
        let mut expected: Vec<_> =
            (0..10).map(|a| (19_000..20_000).rev().find(|i| i % 7 != 0 && i % 10 == a)).collect();
        expected.push((19_000..20_000).rev().find(|i| i % 7 == 0));
        assert_eq!(ints(&rows, 1), expected, "{text}");
    }
    let ordered = prepare(&world, |t| t.sort([col("id").sort(true, false)]).unwrap());
    let rows = run(&ordered, world.context(&world.begin(), vec![])).await;
    assert_eq!(ints(&rows, 0), (0..20_000).map(Some).collect::<Vec<_>>());
}

/// The physical plan for a running transaction.
async fn explain_with(world: &World, shape: Shape) -> String {
    let slots = Slots::new();
    let logical = shape(scan(world, &slots)).build().unwrap();
    slots.fill(world.context(&world.begin(), vec![]));
    let plan = world.engine.plan(&logical, &slots).await.unwrap();
    let text = displayable(plan.as_ref()).indent(false).to_string();
    assert!(text.contains("partitions=2"), "{text}");
    text
}

#[tokio::test]
async fn a_join_of_many_keys_scans() {
    let world = World::new(30_000).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| -> crate::Result<LogicalPlan> {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let on = [col("l.id").eq(col("r.id"))];
            let join = scan("l")?.join_on(scan("r")?.build()?, datafusion::logical_expr::JoinType::Inner, on)?;
            Ok(join.project([col("r.id")])?.build()?)
        }),
    );
    for _ in 0..2 {
        let rows = run(&plan, world.context(&world.begin(), vec![])).await;
        assert_eq!(ints(&rows, 0).len(), 30_000);
    }
}

#[tokio::test]
async fn a_subquery_bounds_a_scan() {
    let world = World::new(1000).await;
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| {
            let scan = |alias: &str| LogicalPlanBuilder::scan(alias, table_source(table.clone(), slots.clone()), None);
            let inner = scan("s")?.filter(col("s.id").eq(parameter(1, DataType::Int32)))?.project([col("s.a")])?;
            let filter = col("t.id").eq(datafusion::logical_expr::scalar_subquery(Arc::new(inner.build()?)));
            Ok(scan("t")?.filter(filter)?.build()?)
        }),
    );
    for id in [11, 12] {
        let transaction = world.begin();
        let rows = run(&plan, world.context(&transaction, vec![int(id)])).await;
        assert_eq!(ints(&rows, 0), vec![Some(id % 10)]);
        assert!(transaction.stats().keys_read <= 3, "{} keys were read", transaction.stats().keys_read);
    }
}

/// Resident memory of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn reuse_keeps_memory() {
    let world = World::new(100).await;
    let plan = prepare(&world, |t| {
        let filtered = t.filter(col("a").eq(parameter(1, DataType::Int32))).unwrap();
        filtered.sort([col("b").sort(false, false)]).unwrap()
    });
    let transaction = world.begin();
    // Other tests use memory meanwhile. A leak shows in every window; their use does not.
    let mut grown = usize::MAX;
    for _window in 0..12 {
        let before = resident();
        for round in 0..1000 {
            let rows = run(&plan, world.context(&transaction, vec![int(round % 10)])).await;
            assert!(!rows.is_empty());
        }
        grown = grown.min(resident().saturating_sub(before));
        if grown < 256 << 10 {
            return;
        }
    }
    panic!("1000 runs grew memory by {grown} bytes at least");
}

#[test]
fn an_engine_needs_no_runtime() {
    assert!(Engine::new(crate::plan::EngineOptions::default(), vec![]).is_ok());
}
