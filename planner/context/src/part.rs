//! [`Part`]: a place in a session for what a layer above keeps there, such as its cursors. The layer names the type.

use std::any::Any;
use std::sync::OnceLock;

/// Made at the first use, with the default value of its type.
#[derive(Default)]
pub struct Part(OnceLock<Box<dyn Any + Send + Sync>>);

impl Part {
    /// The value. Every caller of one part names the same type.
    pub fn of<T: Default + Any + Send + Sync>(&self) -> &T {
        let part = self.0.get_or_init(|| Box::new(T::default()));
        match part.downcast_ref() {
            Some(part) => part,
            None => unreachable!("a part of a session has two types"),
        }
    }
}
