//! [`fields`]: the form of an event in a text log. Names, addresses and messages come from clients, also from
//! unauthenticated ones. None of them may start a log line or control a terminal.

use std::fmt::{self, Write};
use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

/// Writes the message as it is and other fields as `name=value`. Control characters are escaped.
pub fn fields() -> impl for<'writer> FormatFields<'writer> + Send + Sync + 'static {
    debug_fn(write_field).delimited(" ")
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{}=", field.name())?;
    }
    write!(Escaping(writer), "{value:?}")
}

/// Passes text on with its control characters escaped.
struct Escaping<'a, 'w>(&'a mut Writer<'w>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_unsafe) {
            let (before, from) = rest.split_at(at);
            self.0.write_str(before)?;
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                write!(self.0, "{}", character.escape_default())?;
            }
            rest = characters.as_str();
        }
        self.0.write_str(rest)
    }
}

/// Whether the character controls a terminal, ends a line or changes the direction of text.
fn is_unsafe(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_from_outside_begins_a_line_or_steers_a_terminal() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .fmt_fields(fields())
            .with_writer(move || writer.clone())
            .finish();
        let name = "ann\r\nFATAL \u{1b}[2J\u{9b}31m\u{202e}\0é";
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("connection", peer = %name);
            let _entered = span.enter();
            tracing::info!(user = name, error = %name, count = 3, "refused: {name}");
        });
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let shown = "ann\\r\\nFATAL \\u{1b}[2J\\u{9b}31m\\u{202e}\\u{0}é";
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(!text.trim_end().chars().any(is_unsafe), "{text:?}");
        assert!(text.contains(&format!("refused: {shown} ")), "{text}");
        assert!(text.contains(&format!("error={shown}")) && text.contains(&format!("peer={shown}")), "{text}");
        assert!(text.contains("count=3"), "{text}");
    }
}
