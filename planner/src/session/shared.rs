//! [`SessionShared`]: what functions inside a running plan may reach of their session.

/// User, database, sequences' last values, notices.
#[derive(Debug, Default)]
pub struct SessionShared {
    /// currval and lastval.
    pub sequences: crate::catalog::SequenceMemory,
}
