//! Determines the relations that a plan reads.

use catalog::RelationKind;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use executor::table::Table;

/// Whether a plan reads relations, and all of them are system views.
pub(super) fn reads_catalogs_alone(plan: &LogicalPlan) -> bool {
    let (mut any, mut alone) = (false, true);
    let walked = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            any = true;
            let table = scan.source.downcast_ref::<Table>().map(Table::descriptor);
            alone &= table.is_some_and(|table| table.kind == RelationKind::SystemView);
        }
        Ok(if alone { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    walked.is_ok() && any && alone
}
