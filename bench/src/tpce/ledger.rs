//! [`Ledger`]: a file with one line per acknowledgement of the server during a run. The checks compare it with the
//! tables afterwards.

use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc;

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Number of trades before the run, and the number of completed ones among them.
    Start {
        trades: i64,
        completed: i64,
    },
    /// Volume of a security before the run.
    Volume {
        symbol: String,
        volume: i64,
    },
    Ordered(i64),
    RolledBack(i64),
    Completed(i64),
    Fed {
        symbol: String,
        quantity: i64,
        price: i64,
    },
    /// The connection broke at COMMIT, so the outcome is unknown. Only the account of the order is known, not the
    /// trade.
    UnknownOrder(i64),
    UnknownResult(i64),
    UnknownFeed(String),
    /// The run is complete and its connections are closed.
    End,
}

impl Entry {
    fn line(&self) -> String {
        match self {
            Entry::Start { trades, completed } => format!("start {trades} {completed}"),
            Entry::Volume { symbol, volume } => format!("volume {symbol} {volume}"),
            Entry::Ordered(id) => format!("ordered {id}"),
            Entry::RolledBack(id) => format!("rolled-back {id}"),
            Entry::Completed(id) => format!("completed {id}"),
            Entry::Fed { symbol, quantity, price } => format!("fed {symbol} {quantity} {price}"),
            Entry::UnknownOrder(id) => format!("unknown-order {id}"),
            Entry::UnknownResult(id) => format!("unknown-result {id}"),
            Entry::UnknownFeed(symbol) => format!("unknown-feed {symbol}"),
            Entry::End => "end".to_string(),
        }
    }

    fn parse(line: &str) -> Option<Entry> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| words.get(place)?.parse::<i64>().ok();
        let text = |place: usize| words.get(place).map(ToString::to_string);
        Some(match *words.first()? {
            "start" => Entry::Start { trades: number(1)?, completed: number(2)? },
            "volume" => Entry::Volume { symbol: text(1)?, volume: number(2)? },
            "ordered" => Entry::Ordered(number(1)?),
            "rolled-back" => Entry::RolledBack(number(1)?),
            "completed" => Entry::Completed(number(1)?),
            "fed" => Entry::Fed { symbol: text(1)?, quantity: number(2)?, price: number(3)? },
            "unknown-order" => Entry::UnknownOrder(number(1)?),
            "unknown-result" => Entry::UnknownResult(number(1)?),
            "unknown-feed" => Entry::UnknownFeed(text(1)?),
            "end" => Entry::End,
            _ => return None,
        })
    }
}

/// Writes a ledger. Clones write to the same file. The file is complete when the last clone is dropped and `close` has
/// returned.
#[derive(Clone)]
pub struct Ledger(mpsc::Sender<Entry>);

/// Handle that waits until the file is complete.
pub struct Closing(std::thread::JoinHandle<std::io::Result<()>>);

impl Ledger {
    pub fn create(path: &Path) -> Result<(Ledger, Closing)> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        let (sender, receiver) = mpsc::channel::<Entry>();
        let writer = std::thread::spawn(move || {
            while let Ok(entry) = receiver.recv() {
                writeln!(file, "{}", entry.line())?;
                // All waiting entries are written together, then the file is flushed.
                for entry in receiver.try_iter() {
                    writeln!(file, "{}", entry.line())?;
                }
                file.flush()?;
            }
            file.flush()
        });
        Ok((Ledger(sender), Closing(writer)))
    }

    pub fn note(&self, entry: Entry) {
        // The writer ends early only if the disk fails. `close` then reports it.
        let _ = self.0.send(entry);
    }
}

impl Closing {
    pub fn close(self) -> Result<()> {
        self.0.join().map_err(|_| Error::other("the ledger's writer failed"))??;
        Ok(())
    }
}

/// The contents of a ledger file.
#[derive(Default, Debug)]
pub struct Record {
    pub trades_before: i64,
    pub completed_before: i64,
    pub volumes: HashMap<String, i64>,
    pub ordered: HashSet<i64>,
    pub rolled_back: HashSet<i64>,
    pub completed: HashSet<i64>,
    /// By security: the shares that the ticker reported, and the last price.
    pub fed: HashMap<String, (i64, i64)>,
    pub unknown_orders: usize,
    pub unknown_results: HashSet<i64>,
    pub unknown_feeds: HashSet<String>,
    pub ended: bool,
}

impl Record {
    pub fn read(path: &Path) -> Result<Record> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
        let mut record = Record::default();
        // A truncated last line belongs to an entry that nobody waited for.
        for entry in text.split_inclusive('\n').filter_map(|line| Entry::parse(line.strip_suffix('\n')?)) {
            match entry {
                Entry::Start { trades, completed } => {
                    (record.trades_before, record.completed_before) = (trades, completed);
                }
                Entry::Volume { symbol, volume } => drop(record.volumes.insert(symbol, volume)),
                Entry::Ordered(id) => drop(record.ordered.insert(id)),
                Entry::RolledBack(id) => drop(record.rolled_back.insert(id)),
                Entry::Completed(id) => drop(record.completed.insert(id)),
                Entry::Fed { symbol, quantity, price } => {
                    let sum = record.fed.entry(symbol).or_default();
                    *sum = (sum.0 + quantity, price);
                }
                Entry::UnknownOrder(_) => record.unknown_orders += 1,
                Entry::UnknownResult(id) => drop(record.unknown_results.insert(id)),
                Entry::UnknownFeed(symbol) => drop(record.unknown_feeds.insert(symbol)),
                Entry::End => record.ended = true,
            }
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let entries = [
            Entry::Start { trades: 5, completed: 4 },
            Entry::Volume { symbol: "ABCD.A".into(), volume: 7 },
            Entry::Ordered(1),
            Entry::RolledBack(2),
            Entry::Completed(3),
            Entry::Fed { symbol: "ABCD".into(), quantity: 375, price: 2500 },
            Entry::UnknownOrder(4),
            Entry::UnknownResult(5),
            Entry::UnknownFeed("ABCD".into()),
            Entry::End,
        ];
        for entry in entries {
            assert_eq!(Entry::parse(&entry.line()), Some(entry));
        }
    }
}
