//! EXPLAIN output of plans over a store in memory.

use super::{ExplainOptions, explain};
use crate::execution::table_source;
use crate::plan::PreparedPlan;
use crate::plan_tests::testing::World;
use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};
use std::sync::Arc;

const PLAIN: ExplainOptions =
    ExplainOptions { analyze: false, verbose: false, costs: false, timing: false, summary: false };

async fn lines(
    world: &World,
    shape: fn(LogicalPlanBuilder) -> LogicalPlanBuilder,
    options: ExplainOptions,
) -> Vec<String> {
    let table = world.table.clone();
    let plan = PreparedPlan::new(
        Arc::clone(&world.engine),
        Box::new(move |slots| {
            let scan = LogicalPlanBuilder::scan("t", table_source(table.clone(), slots.clone()), None)?;
            Ok(shape(scan).build()?)
        }),
    );
    explain(&plan, world.context(&world.begin(), vec![]), options).await.unwrap().lines(&[])
}

#[tokio::test]
async fn says_which_index_is_used_and_for_what() {
    let world = World::new(20).await;
    let point = lines(&world, |t| t.filter(col("id").eq(lit(3))).unwrap(), PLAIN).await;
    assert_eq!(point[0], "Point Get using t_pkey on t");
    assert_eq!(point[1], "  Index Cond: (id = 3)");
    assert!(point[2].starts_with("  Tablets: 1 ("), "{point:?}");
    let range = lines(&world, |t| t.filter(col("a").gt(lit(3)).and(col("b").not_eq(lit("x")))).unwrap(), PLAIN).await;
    assert_eq!(range[0], "Index Scan using t_a_idx on t");
    assert_eq!(range[1], "  Index Cond: (a > 3)");
    assert_eq!(range[2], "  Filter: (b != 'x')");
    let all = lines(&world, |t| t, PLAIN).await;
    assert_eq!(all[0], "Seq Scan on t");
}

#[tokio::test]
async fn analyze_counts_rows_and_keys() {
    let world = World::new(20).await;
    let options = ExplainOptions { analyze: true, costs: true, timing: true, summary: true, ..PLAIN };
    let all = lines(&world, |t| t.sort([col("b").sort(false, true)]).unwrap(), options).await;
    let text = all.join("\n");
    assert!(text.contains("rows=20 loops=1"), "{text}");
    assert!(text.contains("keys read=2") || text.contains("keys read=4"), "{text}");
    assert!(text.contains("Execution Time: "), "{text}");
}
