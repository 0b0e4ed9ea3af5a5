//! [`RecheckRows`]: rows of a table that changed before a statement locked them. A plan runs again over just their
//! newest versions, to decide whether they still match.

use super::leaf::{self, leaf_methods};
use super::output::ScanOutput;
use super::row_counter::Returned;
use bytes::Bytes;
use datafusion::common::Result as DataFusionResult;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::stream;
use parking_lot::Mutex;
use sql_error::Result;
use std::fmt;
use std::sync::Arc;

/// The rows that currently replace a table, as stored keys and values.
#[derive(Debug, Default)]
pub struct RecheckRows(Mutex<Vec<(Bytes, Bytes)>>);

impl RecheckRows {
    /// Replaces the current rows by these.
    pub fn set(&self, rows: Vec<(Bytes, Bytes)>) {
        *self.0.lock() = rows;
    }
}

/// The leaf that reads these rows.
#[derive(Clone, Debug)]
pub struct RecheckRowsExec {
    output: ScanOutput,
    rows: Arc<RecheckRows>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl RecheckRowsExec {
    /// Makes a leaf that decodes `rows` by `output`.
    pub fn new(output: ScanOutput, rows: Arc<RecheckRows>) -> Self {
        let properties = leaf::properties(&output.schema, Vec::new(), &[], 1);
        RecheckRowsExec { output, rows, properties, returned: Returned::default() }
    }

    fn batch(&self) -> Result<datafusion::arrow::record_batch::RecordBatch> {
        let rows = self.rows.0.lock();
        self.output.decode(rows.iter().map(|(key, value)| (&key[..], &value[..])))
    }
}

impl DisplayAs for RecheckRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "RecheckRowsExec: {}", self.output.table.name)
    }
}

impl ExecutionPlan for RecheckRowsExec {
    leaf_methods!("RecheckRowsExec");

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let rows = self.returned.counter();
        let batch = self.batch();
        Ok(leaf::stream(&self.output.schema, stream::iter([batch]), rows))
    }
}
