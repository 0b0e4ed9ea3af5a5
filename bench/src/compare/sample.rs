//! [`Sample`]: the result of one run of a workload on one server.

/// Measurements of one run on one server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Transactions or rows that were completed.
    pub done: u64,
    /// Completed transactions or rows per second of the client.
    pub per_second: Option<f64>,
    /// Processor seconds of the server's processes during the run.
    pub cpu: Option<f64>,
    /// Processors that other programs kept busy on average: the noise of the machine.
    pub others: Option<f64>,
    /// 99th percentile of the latency, in milliseconds.
    pub p99: Option<f64>,
    /// Syncs of the server's log during the run.
    pub syncs: Option<u64>,
    /// Tries beyond the first, if transactions can conflict.
    pub retries: Option<u64>,
    /// Number of transactions that were abandoned.
    pub failed: u64,
    /// Resident memory at the end, in megabytes.
    pub memory: Option<f64>,
}
