//! [`Rows`]: rows of one table as COPY's text format, being written.

use std::fmt::{Display, Write};

/// Rows of a table.
pub struct Rows {
    pub table: &'static str,
    pub text: String,
    pub count: i64,
}

impl Rows {
    pub fn of(table: &'static str) -> Rows {
        Rows { table, text: String::new(), count: 0 }
    }

    /// Adds a row. No value of ours holds a tab, a line's end or a backslash.
    pub fn add(&mut self, values: &[&dyn Display]) {
        for (place, value) in values.iter().enumerate() {
            if place > 0 {
                self.text.push('\t');
            }
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{value}");
        }
        self.text.push('\n');
        self.count += 1;
    }

    /// Takes what was written so far, and goes on with an empty table.
    pub fn take(&mut self) -> Rows {
        std::mem::replace(self, Rows::of(self.table))
    }
}

/// A value, or NULL.
pub struct Maybe<T>(pub Option<T>);

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(out),
            None => out.write_str("\\N"),
        }
    }
}

/// COPY's `t` and `f`.
pub struct Flag(pub bool);

impl Display for Flag {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.0 { "t" } else { "f" })
    }
}
