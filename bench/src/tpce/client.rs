//! [`Client`]: a connection that runs transactions. It begins and ends them, repeats conflicting ones, and counts.

use super::ledger::{Entry, Ledger};
use super::market::{Told, Waiting};
use super::tally::Tally;
use super::transactions::{BrokerMode, Kind, Outcome, Request};
use crate::error::Error;
use crate::random::Stream;
use crate::session::{Session, Style};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_postgres::Config;

/// A transaction is abandoned after this many conflicts.
const TRIES: u32 = 100;
/// Longest random wait between tries, in milliseconds. The wait doubles up to this limit.
const LONGEST_WAIT_MS: u64 = 50;
/// Wait after a failed connection attempt.
const RECONNECT: Duration = Duration::from_millis(200);

/// Isolation level of the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Isolation {
    /// The lowest sufficient level for each: SERIALIZABLE for Trade-Result.
    ByTransaction,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    pub fn level(self, kind: Kind) -> &'static str {
        match self {
            Isolation::ByTransaction => kind.level(),
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Serializable => "serializable",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Isolation::ByTransaction => "by transaction",
            other => other.level(Kind::TradeResult),
        }
    }
}

/// State that all clients of a run share.
pub struct Shared {
    pub config: Config,
    pub style: Style,
    pub isolation: Isolation,
    pub broker: BrokerMode,
    pub ledger: Ledger,
    pub told: mpsc::UnboundedSender<Told>,
    pub stop: AtomicBool,
    pub measuring: AtomicBool,
    /// Whether the run also measures the time of each statement.
    pub statements: bool,
    /// Number of the market's results and feeds that wait.
    pub waiting: Waiting,
}

impl Shared {
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// An error, and whether it occurred at COMMIT.
struct Failure {
    error: Error,
    at_commit: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, at_commit: false }
    }
}

pub struct Client {
    shared: Arc<Shared>,
    tally: Arc<Mutex<Tally>>,
    session: Option<Session>,
    stream: Stream,
}

impl Client {
    pub fn new(shared: Arc<Shared>, tally: Arc<Mutex<Tally>>, number: u64) -> Client {
        Client { shared, tally, session: None, stream: Stream::of(number, 0, 0) }
    }

    fn count(&self, note: impl FnOnce(&mut Tally)) {
        if self.shared.measuring.load(Ordering::Relaxed) {
            note(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Runs a transaction and measures it.
    pub async fn carry_out(&mut self, request: &Request) -> Option<Outcome> {
        self.carry_out_since(Instant::now(), request).await
    }

    /// Like [`Client::carry_out`], for a transaction that was due at `begin`. Its measured time includes the wait for a
    /// connection.
    pub async fn carry_out_since(&mut self, begin: Instant, request: &Request) -> Option<Outcome> {
        let outcome = self.persist(request).await?;
        self.measure(request.kind(), begin, outcome.warnings, outcome.rollback);
        Some(outcome)
    }

    pub fn measure(&self, kind: Kind, begin: Instant, warnings: u64, rolled_back: bool) {
        self.count(|tally| tally.done(kind, begin.elapsed(), warnings, rolled_back));
    }

    /// Repeats a transaction with the same inputs until it does not conflict, and records its outcome.
    pub async fn persist(&mut self, request: &Request) -> Option<Outcome> {
        let kind = request.kind();
        let mut tries = 0;
        loop {
            let attempt = self.attempt(request).await;
            self.count_statements();
            match attempt {
                Ok(outcome) => {
                    self.note(request, &outcome);
                    return Some(outcome);
                }
                Err(failure) => {
                    let usable = failure.error.is_answer();
                    match (usable, &mut self.session) {
                        (true, Some(session)) => {
                            if session.command("rollback").await.is_err() {
                                self.session = None;
                            }
                        }
                        _ => self.session = None,
                    }
                    let code = failure.error.code().to_string();
                    if failure.error.is_conflict() && tries < TRIES {
                        tries += 1;
                        self.count(|tally| tally.retried(kind, &code));
                        self.wait(tries).await;
                        continue;
                    }
                    // After such an error of COMMIT the outcome is unknown.
                    let untold = !usable || matches!(code.as_str(), "40003" | "08007");
                    if failure.at_commit && untold {
                        self.note_unknown(request);
                    }
                    self.count(|tally| tally.aborted(kind, &code, failure.error.to_string()));
                    return None;
                }
            }
        }
    }

    fn count_statements(&mut self) {
        let times = self.session.as_mut().map(Session::take_times).unwrap_or_default();
        if !times.is_empty() {
            self.count(|tally| times.into_iter().for_each(|(statement, took)| tally.answered(statement, took)));
        }
    }

    /// Waits for a short random time, so that conflicting transactions do not meet again.
    async fn wait(&mut self, tries: u32) {
        let longest = (1u64 << tries.min(10)).min(LONGEST_WAIT_MS);
        let micros = self.stream.below(longest * 1000);
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }

    async fn attempt(&mut self, request: &Request) -> Result<Outcome, Failure> {
        if self.session.is_none() {
            match Session::open(&self.shared.config, self.shared.style).await {
                Ok(mut session) => {
                    if self.shared.statements {
                        session.keep_times();
                    }
                    self.session = Some(session);
                }
                Err(error) => {
                    tokio::time::sleep(RECONNECT).await;
                    return Err(error.into());
                }
            }
        }
        let Some(session) = &mut self.session else { return Err(Error::other("no connection").into()) };
        let level = self.shared.isolation.level(request.kind());
        session.command(&format!("begin isolation level {level}")).await?;
        let outcome = request.perform(session, self.shared.broker).await?;
        if outcome.rollback {
            session.command("rollback").await?;
        } else {
            session.command("commit").await.map_err(|error| Failure { error, at_commit: true })?;
        }
        Ok(outcome)
    }

    /// Records an acknowledged transaction in the ledger and informs the market.
    fn note(&self, request: &Request, outcome: &Outcome) {
        let ledger = &self.shared.ledger;
        match (request, outcome.trade) {
            (Request::TradeOrder(_), Some(trade)) if outcome.rollback => ledger.note(Entry::RolledBack(trade)),
            (Request::TradeOrder(_), Some(trade)) => ledger.note(Entry::Ordered(trade)),
            (Request::TradeResult(result), _) => ledger.note(Entry::Completed(result.trade)),
            (Request::MarketFeed(entry), _) => {
                ledger.note(Entry::Fed { symbol: entry.symbol.clone(), quantity: entry.quantity, price: entry.price })
            }
            _ => {}
        }
        if !outcome.rollback {
            for order in &outcome.submitted {
                // At the end of a run the market's receiver is gone.
                let _ = self.shared.told.send(Told::Order(order.clone()));
            }
        }
    }

    /// Records a transaction whose answer to COMMIT was lost. The trade id of an order is then unknown too.
    fn note_unknown(&self, request: &Request) {
        match request {
            Request::TradeOrder(order) => self.shared.ledger.note(Entry::UnknownOrder(order.account)),
            Request::TradeResult(result) => self.shared.ledger.note(Entry::UnknownResult(result.trade)),
            Request::MarketFeed(entry) => self.shared.ledger.note(Entry::UnknownFeed(entry.symbol.clone())),
            _ => {}
        }
    }
}
