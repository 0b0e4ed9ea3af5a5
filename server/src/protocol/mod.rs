//! The bytes of protocol v3: checked decoding of what clients send, buffered encoding of what they get.

pub mod frontend;
pub mod output;
pub mod reader;

pub use frontend::{Frame, Message};
pub use output::Output;
