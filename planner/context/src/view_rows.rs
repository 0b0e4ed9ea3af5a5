//! [`ViewRows`]: the system view rows that one execution of a statement has computed. So a correlated subquery or
//! recursive query, which runs repeatedly, need not compute them each time.

use crate::slots::StatementContext;
use crate::system_view::{Asked, IndexedRows, SystemView};
use arrow::record_batch::RecordBatch;
use catalog::Catalog;
use parking_lot::Mutex;
use sql_error::Result;
use std::collections::HashMap;
use std::sync::Arc;
use types::Oid;

/// Usual maximum of rows per relation in a view. All rows are computed and kept once lookups by key have examined this
/// many rows per relation.
const ROWS_OF_A_RELATION: usize = 16;

/// The state of one view with one selection of columns.
#[derive(Default)]
struct Known {
    /// Number of rows computed or examined so far.
    examined: usize,
    whole: Option<Arc<IndexedRows>>,
}

/// The rows computed of each view, by its OID and the columns that are read.
#[derive(Default)]
pub struct ViewRows {
    known: Mutex<HashMap<(Oid, Vec<usize>), Known>>,
}

fn worth_keeping(examined: usize, catalog: &Catalog) -> bool {
    examined > ROWS_OF_A_RELATION.saturating_mul(catalog.system().count() + catalog.user_relations().len())
}

impl ViewRows {
    /// The requested rows of a view, and the number of rows examined for them.
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
        // Columns of the keys are kept too.
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
