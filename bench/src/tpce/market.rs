//! [`Market`]: the emulated exchange. It executes market orders after a delay, keeps limit orders until the price wave
//! reaches their limit, and writes the ticker. Results and feeds leave through channels.

use super::population::{Population, Wave, purpose};
use super::transactions::{Submission, TickerEntry, TradeResult};
use crate::random::Stream;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// Number of entries in one Market-Feed.
pub const ENTRIES: usize = 20;
/// Shares of a ticker entry for a reached limit or for trades of other customers.
const LIMIT_QUANTITY: i64 = 375;
const PADDING: [i64; 2] = [325, 425];

/// A message to the market.
pub enum Told {
    Order(Submission),
    /// A Trade-Result was committed.
    Completed(TickerEntry),
}

/// The entries of one feed and the time when it is due.
pub type Feed = (Instant, Vec<TickerEntry>);

/// A result that the market wants to be booked, and its ticker entry.
pub struct Execution {
    /// Time when the booking is due.
    pub due: Instant,
    pub result: TradeResult,
    pub entry: TickerEntry,
}

enum Due {
    Execute(Submission),
    LimitMet(TickerEntry),
}

/// The state of the exchange.
pub struct Market {
    population: Arc<Population>,
    securities: HashMap<String, i64>,
    stream: Stream,
    began: Instant,
    began_ms: i64,
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    waiting: HashMap<u64, Due>,
    next: u64,
    met: VecDeque<TickerEntry>,
    tape: Vec<TickerEntry>,
    results: mpsc::UnboundedSender<Execution>,
    feeds: mpsc::UnboundedSender<Feed>,
    behind: Waiting,
}

/// Counters of work that is due and not done.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Number of results to be booked.
    pub results: Arc<AtomicUsize>,
    /// Number of feeds to be written.
    pub feeds: Arc<AtomicUsize>,
}

impl Market {
    pub fn new(
        population: Arc<Population>,
        seed: u64,
        results: mpsc::UnboundedSender<Execution>,
        feeds: mpsc::UnboundedSender<Feed>,
        behind: Waiting,
    ) -> Market {
        let securities = (0..population.scale.securities()).map(|place| (population.symbol(place), place)).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Market {
            population,
            securities,
            stream: Stream::of(seed, purpose::MARKET, 0),
            began: Instant::now(),
            began_ms: i64::try_from(now.as_millis()).unwrap_or(0),
            due: BinaryHeap::new(),
            waiting: HashMap::new(),
            next: 0,
            met: VecDeque::new(),
            tape: Vec::new(),
            results,
            feeds,
            behind,
        }
    }

    fn now_ms(&self) -> i64 {
        self.began_ms + i64::try_from(self.began.elapsed().as_millis()).unwrap_or(0)
    }

    fn later(&mut self, wait: Duration, what: Due) {
        self.next += 1;
        self.due.push(Reverse((Instant::now() + wait, self.next)));
        self.waiting.insert(self.next, what);
    }

    /// Handles messages and due events until all senders are gone.
    pub async fn trade(mut self, mut told: mpsc::UnboundedReceiver<Told>) {
        loop {
            let next = self.due.peek().map_or_else(|| Instant::now() + Duration::from_secs(1), |Reverse((at, _))| *at);
            tokio::select! {
                message = told.recv() => match message {
                    Some(Told::Order(order)) => self.order(order),
                    Some(Told::Completed(entry)) => self.completed(entry),
                    None => return,
                },
                () = tokio::time::sleep_until(next.into()) => self.let_happen(),
            }
        }
    }

    fn wave(&self, symbol: &str) -> Wave {
        Wave::of(self.securities.get(symbol).copied().unwrap_or(0))
    }

    fn order(&mut self, order: Submission) {
        if order.at_once {
            let wait = Duration::from_secs_f64(self.stream.exponential(1.0, 5.0));
            return self.later(wait, Due::Execute(order));
        }
        let falling = order.trade_type != "TLS";
        let wait = self.wave(&order.symbol).wait(self.now_ms(), order.bid, falling);
        let wait = Duration::from_millis(wait.unsigned_abs());
        let entry = TickerEntry { symbol: order.symbol, price: order.bid, quantity: LIMIT_QUANTITY };
        self.later(wait, Due::LimitMet(entry));
    }

    fn let_happen(&mut self) {
        let now = Instant::now();
        while let Some(Reverse((at, number))) = self.due.peek().copied() {
            if at > now {
                return;
            }
            self.due.pop();
            match self.waiting.remove(&number) {
                Some(Due::Execute(order)) => self.execute(order),
                Some(Due::LimitMet(entry)) => self.met.push_back(entry),
                None => {}
            }
        }
    }

    fn execute(&self, order: Submission) {
        let now = self.wave(&order.symbol).price(self.now_ms());
        let price = match order.trade_type.as_str() {
            "TLB" => now.min(order.bid),
            "TLS" => now.max(order.bid),
            _ => now,
        };
        let entry = TickerEntry { symbol: order.symbol, price, quantity: order.quantity };
        self.behind.results.fetch_add(1, Ordering::Relaxed);
        // At the end of a run the receiver is gone.
        let _ = self.results.send(Execution {
            due: Instant::now(),
            result: TradeResult { trade: order.trade, price },
            entry,
        });
    }

    /// Puts the trade on the tape together with another entry: a reached limit, or a trade of other customers.
    fn completed(&mut self, entry: TickerEntry) {
        self.tape.push(entry);
        let padding = self.met.pop_front().unwrap_or_else(|| {
            let security = self.stream.between(0, self.population.scale.securities() - 1);
            let price = Wave::of(security).price(self.now_ms());
            TickerEntry { symbol: self.population.symbol(security), price, quantity: *self.stream.pick(&PADDING) }
        });
        self.tape.push(padding);
        if self.tape.len() >= ENTRIES {
            self.behind.feeds.fetch_add(1, Ordering::Relaxed);
            let _ = self.feeds.send((Instant::now(), std::mem::take(&mut self.tape)));
        }
    }
}
