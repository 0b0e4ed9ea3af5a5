//! [`Maintenance`]: the thread that measures tablets, splits large or busy ones, merges small neighbours,
//! and stores the directory.

use super::iterator_pool::KeptCursors;
use super::log::Database;
use super::options::EmbeddedOptions;
use super::reader::ScanBounds;
use super::tablets::{Tablet, TabletDirectory};
use super::{approximate_bytes, key, split_points};
use crate::contract::{Family, RowRange};
use crate::env::EnvRef;
use crate::error::Result;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Duration;

/// Name of the tablet directory among the named values.
pub const DIRECTORY_NAME: &str = "store.tablets";
/// The most pieces that one pass splits a tablet into.
const PIECES: u64 = 256;
/// A tablet smaller than this, in bytes, is not split for its load.
const LOAD_SPLIT_BYTES: u64 = 64 << 10;

/// Delay from the start to the first pass.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// The inputs of a pass over the tablets.
pub struct TabletKeeper {
    /// The store's rows, whose sizes are measured.
    pub database: Arc<Database>,
    /// The pool whose idle cursors each pass drops.
    pub cursors: Arc<KeptCursors>,
    /// The tablets to split and merge.
    pub directory: Arc<TabletDirectory>,
    /// The limits on a tablet's size and load.
    pub options: EmbeddedOptions,
}

impl TabletKeeper {
    /// Measures all tablets, from sizes that the database knows without reading rows.
    fn measure(&self) -> Result<()> {
        for tablet in self.directory.all().iter() {
            tablet.set_bytes(approximate_bytes(&self.database, &tablet.range)?);
        }
        Ok(())
    }

    /// Makes one pass over all tablets, `elapsed` after the last one. Answers whether the directory changed.
    pub fn pass(&self, elapsed: Duration) -> Result<bool> {
        self.cursors.let_go();
        let (split, loads) = self.split_all(elapsed)?;
        // The loads of the parts are not known yet, so merging waits for a later pass.
        if split { Ok(true) } else { self.merge_all(&loads) }
    }

    /// Splits large or busy tablets. Answers whether any was split, and the load of each tablet.
    fn split_all(&self, elapsed: Duration) -> Result<(bool, Vec<(u64, u64)>)> {
        let limit = self.options.tablet_bytes.max(1);
        let seconds = elapsed.as_secs_f64().max(0.001);
        let mut changed = false;
        let mut loads = Vec::new();
        self.measure()?;
        for tablet in self.directory.all().iter() {
            let bytes = tablet.info().bytes;
            let load = (tablet.take_load() as f64 / seconds) as u64;
            loads.push((tablet.id, load));
            let pieces = match load > self.options.tablet_operations && bytes > LOAD_SPLIT_BYTES {
                true => (bytes / limit + 1).max(2),
                false => bytes.div_ceil(limit).max(1),
            };
            if bytes > limit || pieces > 1 && load > self.options.tablet_operations {
                changed |= self.directory.split(tablet.id, &self.split_keys(tablet, pieces.min(PIECES))?);
            }
        }
        if changed {
            self.store()?;
        }
        Ok((changed, loads))
    }

    /// Merges neighbours that are small and idle.
    fn merge_all(&self, loads: &[(u64, u64)]) -> Result<bool> {
        let limit = self.options.tablet_bytes.max(1);
        let mut changed = false;
        let load_of = |id| loads.iter().find(|(of, _)| *of == id).map_or(0, |(_, load)| *load);
        let mut before: Option<Arc<Tablet>> = None;
        for tablet in self.directory.all().iter() {
            if let Some(left) = &before
                && left.info().bytes + tablet.info().bytes < limit / 4
                && load_of(left.id) + load_of(tablet.id) < self.options.tablet_operations / 4
                && self.directory.merge(&tablet.range.start)
            {
                changed = true;
                before = self.directory.overlapping(&RowRange::prefix(left.range.start.clone())).first().cloned();
                continue;
            }
            before = Some(tablet.clone());
        }
        if changed {
            self.store()?;
        }
        Ok(changed)
    }

    /// Writes the directory durably.
    pub fn store(&self) -> Result<()> {
        self.database.put_meta(DIRECTORY_NAME, &self.directory.encode())
    }

    /// Row keys that divide a tablet into pieces of about the same size.
    fn split_keys(&self, tablet: &Tablet, pieces: u64) -> Result<Vec<Bytes>> {
        let bounds = bounds(&tablet.range);
        // The family with the most bytes decides.
        let mut family = (0, Family::Write);
        for candidate in Family::ALL {
            family = family.max((super::approximate_family_bytes(&self.database, candidate, &bounds)?, candidate));
        }
        split_points::cut(&self.database, family.1, &bounds, usize::try_from(pieces).unwrap_or(usize::MAX))
    }
}

/// The cell keys of a range of rows.
pub fn bounds(range: &RowRange) -> ScanBounds {
    ScanBounds { lower: key::bound(&range.start), upper: range.end.as_ref().map(|end| key::bound(end)) }
}

#[derive(Default)]
struct Signal {
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// A handle to the maintenance thread. Dropping it ends the thread and waits for its end.
pub struct Maintenance {
    signal: Arc<Signal>,
}

impl Maintenance {
    /// Measures the tablets and starts passes, one each interval. A pass looks at each tablet, so opening a store
    /// does not wait for it. The first pass comes soon, and only splits.
    pub fn start(keeper: Arc<TabletKeeper>, env: &EnvRef) -> Maintenance {
        let warn = |result: Result<bool>| {
            if let Err(error) = result {
                tracing::warn!(%error, "tablets could not be maintained");
            }
        };
        warn(keeper.measure().map(|()| false));
        let signal = Arc::new(Signal::default());
        let end = EndGuard(signal.clone());
        let clock = env.clone();
        env.spawn_thread(
            "tablets",
            Box::new(move || {
                // Dropped in reverse order: when the end is signalled, the database must already be released, since
                // the waiter may reopen it.
                let (end, keeper) = (end, keeper);
                let mut last = clock.monotonic();
                let mut wait = FIRST_LOOK.min(keeper.options.tablet_interval);
                let mut first = true;
                loop {
                    let mut state = end.0.state.lock();
                    if !state.0 {
                        end.0.changed.wait_for(&mut state, wait);
                    }
                    if state.0 {
                        return;
                    }
                    drop(state);
                    let now = clock.monotonic();
                    if now < last + wait {
                        continue;
                    }
                    // A tablet that grew before a crash is split soon. A tablet that is idle only because the store
                    // was closed is not merged.
                    warn(match std::mem::replace(&mut first, false) {
                        true => keeper.split_all(now - last).map(|(split, _)| split),
                        false => keeper.pass(now - last),
                    });
                    (last, wait) = (now, keeper.options.tablet_interval);
                }
            }),
        );
        Maintenance { signal }
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        let mut state = self.signal.state.lock();
        state.0 = true;
        self.signal.changed.notify_all();
        while !state.1 {
            self.signal.changed.wait(&mut state);
        }
    }
}

struct EndGuard(Arc<Signal>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.state.lock().1 = true;
        self.0.changed.notify_all();
    }
}
