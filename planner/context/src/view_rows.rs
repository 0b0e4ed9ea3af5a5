//! [`ViewRows`]: the rows of system views that one execution of a statement has made. A correlated subquery or a recursive query,
//! which runs again and again in it, does not make them each time.

use crate::slots::StatementContext;
use crate::system_view::{Asked, IndexedRows, SystemView};
use arrow::record_batch::RecordBatch;
use catalog::Catalog;
use parking_lot::Mutex;
use sql_error::Result;
use std::collections::HashMap;
use std::sync::Arc;
use types::Oid;

/// Rows that a view has for each relation, at most as a rule: so many times as many rows as there are relations may be looked
/// at by keys before all rows are made and kept.
const ROWS_OF_A_RELATION: usize = 16;

/// What is known of one view and one choice of its columns.
#[derive(Default)]
struct Known {
    /// Rows that were made or looked at until now.
    examined: usize,
    whole: Option<Arc<IndexedRows>>,
}

/// The rows that were made of each view, by its OID and the columns that are read.
#[derive(Default)]
pub struct ViewRows {
    known: Mutex<HashMap<(Oid, Vec<usize>), Known>>,
}

fn worth_keeping(examined: usize, catalog: &Catalog) -> bool {
    examined > ROWS_OF_A_RELATION.saturating_mul(catalog.system().count() + catalog.user_relations().len())
}

impl ViewRows {
    /// The rows of a view that are asked for, and how many were looked at for them.
    pub async fn read(
        &self,
        view: &Arc<dyn SystemView>,
        context: &StatementContext,
        asked: &Asked,
    ) -> Result<(RecordBatch, usize)> {
        if !view.is_of_catalog() {
            let found = view.rows(context, asked).await?;
            return Ok((found.rows, found.examined));
        }
        // All columns that a key needs are kept as well.
        let mut columns = asked.columns.clone();
        columns.extend(asked.keys.iter().map(|key| key.column));
        columns.sort_unstable();
        columns.dedup();
        let at = |column: usize| columns.iter().position(|kept| *kept == column);
        let place = (view.descriptor().oid, columns.clone());
        let (examined, whole) = match self.known.lock().get(&place) {
            Some(known) => (known.examined, known.whole.clone()),
            None => (0, None),
        };
        if let Some(whole) = whole {
            let found = whole.find(asked, at)?;
            return Ok((found.rows, found.examined));
        }
        if !asked.keys.is_empty() && !worth_keeping(examined, &context.catalog) {
            let found = view.rows(context, asked).await?;
            self.known.lock().entry(place).or_default().examined += found.examined;
            return Ok((found.rows, found.examined));
        }
        let found = view.rows(context, &Asked { columns: columns.clone(), keys: Vec::new() }).await?;
        let whole = Arc::new(IndexedRows::new(found.rows));
        self.known.lock().entry(place).or_default().whole = Some(Arc::clone(&whole));
        Ok((whole.find(asked, at)?.rows, found.examined))
    }
}
