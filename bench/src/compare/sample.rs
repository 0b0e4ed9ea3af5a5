//! [`Sample`]: what one run of a workload on one server came to.

/// One run on one server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Transactions or rows that were asked for and done.
    pub done: u64,
    /// How many of them in a second, as the client saw it.
    pub per_second: Option<f64>,
    /// Seconds of processor that the server's processes used meanwhile.
    pub cpu: Option<f64>,
    /// How many processors were busy on average with what is neither the servers nor their clients: the noise of the machine.
    pub others: Option<f64>,
    /// In milliseconds, below which 99 of 100 transactions were.
    pub p99: Option<f64>,
    /// How often the server synced its log meanwhile.
    pub syncs: Option<u64>,
    /// Tries beyond the first, where transactions can be refused because of others.
    pub retries: Option<u64>,
    /// Transactions that were given up.
    pub failed: u64,
    /// Megabytes that were resident at the end.
    pub memory: Option<f64>,
}
