//! The messages of protocol v3: checked decoding of requests, buffered encoding of replies.

pub mod frontend;
pub mod output;
pub mod reader;

pub use frontend::{Frame, Message};
pub use output::Output;
