//! [`with_binding`]: what expressions without parameters are bound against, with tables that can be run.

use super::slots::Slots;
use super::table::table_source;
use crate::bind::BindContext;
use crate::catalog::Catalog;
use crate::settings::Settings;
use std::sync::Arc;

/// Calls `bind` with what binds to `slots`. `now`: start of the transaction, microseconds since the Unix epoch, for literals
/// such as `'today'`.
pub fn with_binding<T>(
    catalog: &Arc<Catalog>,
    settings: &Settings,
    slots: &Arc<Slots>,
    now: i64,
    bind: impl FnOnce(&BindContext<'_>) -> T,
) -> T {
    let source = |table| table_source(table, Arc::clone(slots));
    bind(&BindContext { catalog, settings, slots, parameters: &[], now, table_source: &source })
}
