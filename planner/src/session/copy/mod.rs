//! COPY: rows in and out as text or csv, streamed. Must not know messages.

mod input;
mod origin;
mod output;
mod record;
mod target;

pub use crate::parse::copy::CopyFormat;
pub use input::{CopyIn, begin_input};
pub use output::{CopyChunk, CopyOut, begin_output};
