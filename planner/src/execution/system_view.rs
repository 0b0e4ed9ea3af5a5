//! [`SystemViewExec`]: reads a computed relation.

use super::leaf::{self, leaf_methods};
use super::returned::Returned;
use super::slots::Slots;
use crate::pg_catalog::SystemView;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// Reads the rows of a system view.
#[derive(Clone, Debug)]
pub struct SystemViewExec {
    view: Arc<dyn SystemView>,
    positions: Vec<usize>,
    schema: SchemaRef,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl SystemViewExec {
    /// Reads the columns at these positions among the live ones; `schema` is theirs.
    pub fn new(view: Arc<dyn SystemView>, positions: Vec<usize>, schema: SchemaRef, slots: Arc<Slots>) -> Self {
        let properties = leaf::properties(&schema, vec![], &[], 1);
        SystemViewExec { view, positions, schema, slots, properties, returned: Returned::default() }
    }

    /// Name of the view.
    pub fn view_name(&self) -> &str {
        &self.view.descriptor().name
    }
}

impl DisplayAs for SystemViewExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SystemViewExec: {}", self.view_name())
    }
}

impl ExecutionPlan for SystemViewExec {
    leaf_methods!("SystemViewExec");

    fn execute(
        &self,
        _partition: usize,
        _context: Arc<TaskContext>,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let view = Arc::clone(&self.view);
        let (positions, schema) = (self.positions.clone(), Arc::clone(&self.schema));
        let read = async move {
            let rows = view.rows(&context).await?;
            let columns = positions.iter().filter_map(|position| rows.columns().get(*position).cloned()).collect();
            leaf::batch(&schema, columns, rows.num_rows())
        };
        let rows = self.returned.counter();
        Ok(leaf::stream(&self.schema, futures::stream::once(read), rows))
    }
}
