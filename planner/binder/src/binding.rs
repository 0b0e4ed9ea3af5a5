//! [`with_binding`]: a resolver for expressions without parameters, with tables that can be read.

use super::BindContext;
use catalog::Catalog;
use executor::{Slots, table_source};
use settings::Settings;
use std::sync::Arc;

/// Calls `bind` with a resolver that binds to `slots`. `now` is the start of the transaction in microseconds since
/// 2000-01-01 UTC. Literals such as `'today'` need it.
pub fn with_binding<T>(
    catalog: &Arc<Catalog>,
    settings: &Settings,
    slots: &Arc<Slots>,
    now: i64,
    bind: impl FnOnce(&BindContext<'_>) -> T,
) -> T {
    let source = |table| table_source(table, Arc::clone(slots));
    let parameters = &[];
    bind(&BindContext { catalog, settings, slots, parameters, now, identified: None, table_source: &source })
}
