//! COPY: streams rows in and out as text, csv or binary. Must not know messages.

mod binary;
mod condition;
mod input;
mod kept_plan;
mod origin;
mod output;
mod record;
mod target;

pub use crate::parse::copy::CopyFormat;
pub use binary::BinaryCodec;
pub use input::{CopyIn, begin_input};
pub use kept_plan::KeptPlan;
pub use output::{CopyChunk, CopyOut, begin_output};

/// The INSERT of a session's last COPY FROM STDIN.
pub fn copied_by(session: &context::shared::SessionShared) -> &parking_lot::Mutex<Option<Box<KeptPlan>>> {
    session.copied.of()
}
