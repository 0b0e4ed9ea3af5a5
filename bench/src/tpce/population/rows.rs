//! [`Rows`]: builds rows of one table in COPY's text format.

use std::fmt::{Display, Write};

/// Rows of a table, in COPY's text format.
pub struct Rows {
    pub table: &'static str,
    pub text: String,
    pub count: i64,
}

impl Rows {
    pub fn of(table: &'static str) -> Rows {
        Rows { table, text: String::new(), count: 0 }
    }

    /// Appends a row. The generated values contain no tab, newline or backslash.
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

    /// Takes the rows so far and continues with an empty buffer.
    pub fn take(&mut self) -> Rows {
        std::mem::replace(self, Rows::of(self.table))
    }
}

/// A value or NULL, in COPY's text form.
pub struct Maybe<T>(pub Option<T>);

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(out),
            None => out.write_str("\\N"),
        }
    }
}

/// A boolean in COPY's text form: `t` or `f`.
pub struct Flag(pub bool);

impl Display for Flag {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.0 { "t" } else { "f" })
    }
}
