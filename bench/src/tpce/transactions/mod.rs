//! The twelve transactions with their inputs, statements and outcomes. Each has a module of its own; this module holds
//! the common parts. The driver begins and ends the transactions.

mod broker_volume;
mod customer_position;
mod data_maintenance;
mod market_feed;
mod market_watch;
mod security_detail;
pub mod trade_cleanup;
mod trade_lookup;
mod trade_order;
mod trade_result;
mod trade_status;
mod trade_update;

pub use broker_volume::BrokerVolume;
pub use customer_position::CustomerPosition;
pub use data_maintenance::{DataMaintenance, MAINTAINED};
pub use market_feed::{TickerEntry, feed_entry};
pub use market_watch::{MarketWatch, Watched};
pub use security_detail::SecurityDetail;
pub use trade_lookup::{TRADES, TradeLookup, Wanted};
pub use trade_order::TradeOrder;
pub use trade_result::TradeResult;
pub use trade_status::TradeStatus;
pub use trade_update::TradeUpdate;

use crate::error::Result;
use crate::session::Session;

/// The measured kinds of transactions. Trade-Cleanup is missing, because it runs before the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    BrokerVolume,
    CustomerPosition,
    MarketFeed,
    MarketWatch,
    SecurityDetail,
    TradeLookup,
    TradeOrder,
    TradeResult,
    TradeStatus,
    TradeUpdate,
    DataMaintenance,
}

pub const KINDS: [Kind; 11] = [
    Kind::BrokerVolume,
    Kind::CustomerPosition,
    Kind::MarketFeed,
    Kind::MarketWatch,
    Kind::SecurityDetail,
    Kind::TradeLookup,
    Kind::TradeOrder,
    Kind::TradeResult,
    Kind::TradeStatus,
    Kind::TradeUpdate,
    Kind::DataMaintenance,
];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::BrokerVolume => "Broker-Volume",
            Kind::CustomerPosition => "Customer-Position",
            Kind::MarketFeed => "Market-Feed",
            Kind::MarketWatch => "Market-Watch",
            Kind::SecurityDetail => "Security-Detail",
            Kind::TradeLookup => "Trade-Lookup",
            Kind::TradeOrder => "Trade-Order",
            Kind::TradeResult => "Trade-Result",
            Kind::TradeStatus => "Trade-Status",
            Kind::TradeUpdate => "Trade-Update",
            Kind::DataMaintenance => "Data-Maintenance",
        }
    }

    /// The intended share of the mix in percent.
    pub fn target(self) -> f64 {
        match self {
            Kind::BrokerVolume => 4.9,
            Kind::CustomerPosition => 13.0,
            Kind::MarketFeed => 1.0,
            Kind::MarketWatch => 18.0,
            Kind::SecurityDetail => 14.0,
            Kind::TradeLookup => 8.0,
            Kind::TradeOrder => 10.1,
            Kind::TradeResult => 10.0,
            Kind::TradeStatus => 19.0,
            Kind::TradeUpdate => 2.0,
            Kind::DataMaintenance => 0.0,
        }
    }

    /// Cards of this kind in the deck of a customer's transactions.
    pub fn cards(self) -> usize {
        match self {
            Kind::MarketFeed | Kind::TradeResult | Kind::DataMaintenance => 0,
            other => (other.target() * 10.0).round() as usize,
        }
    }

    /// The lowest sufficient isolation level.
    pub fn level(self) -> &'static str {
        match self {
            Kind::TradeResult => "serializable",
            Kind::TradeOrder | Kind::TradeUpdate | Kind::MarketFeed => "repeatable read",
            _ => "read committed",
        }
    }

    pub fn place(self) -> usize {
        self as usize
    }
}

/// Treatment of the brokers' totals, which all trade-results of a broker update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BrokerMode {
    /// Kept in the brokers' rows.
    Exact,
    /// Noted in rows of their own, to be summed.
    Delta,
    /// Left out, as Percolator's authors did.
    Omit,
}

/// An order that the market must execute.
#[derive(Clone, Debug)]
pub struct Submission {
    pub trade: i64,
    pub symbol: String,
    pub trade_type: String,
    pub quantity: i64,
    /// Bid price of a limit order in cents.
    pub bid: i64,
    /// Whether the market executes the order at once instead of waiting for the price.
    pub at_once: bool,
}

/// The outcome of a transaction.
#[derive(Default, Debug)]
pub struct Outcome {
    /// Number of results that differ from the expectation.
    pub warnings: u64,
    /// Whether the driver must roll the transaction back, on purpose.
    pub rollback: bool,
    /// Orders for the market, to be sent after COMMIT.
    pub submitted: Vec<Submission>,
    /// Id of the trade that the transaction made.
    pub trade: Option<i64>,
}

impl Outcome {
    /// An outcome with no warning if `fine`, else with one.
    pub fn expect(fine: bool) -> Outcome {
        Outcome { warnings: u64::from(!fine), ..Outcome::default() }
    }
}

/// A transaction with its inputs, which stay the same when it is repeated.
pub enum Request {
    BrokerVolume(BrokerVolume),
    CustomerPosition(CustomerPosition),
    MarketFeed(TickerEntry),
    MarketWatch(MarketWatch),
    SecurityDetail(SecurityDetail),
    TradeLookup(TradeLookup),
    TradeOrder(Box<TradeOrder>),
    TradeResult(TradeResult),
    TradeStatus(TradeStatus),
    TradeUpdate(TradeUpdate),
    DataMaintenance(DataMaintenance),
}

impl Request {
    pub fn kind(&self) -> Kind {
        match self {
            Request::BrokerVolume(_) => Kind::BrokerVolume,
            Request::CustomerPosition(_) => Kind::CustomerPosition,
            Request::MarketFeed(_) => Kind::MarketFeed,
            Request::MarketWatch(_) => Kind::MarketWatch,
            Request::SecurityDetail(_) => Kind::SecurityDetail,
            Request::TradeLookup(_) => Kind::TradeLookup,
            Request::TradeOrder(_) => Kind::TradeOrder,
            Request::TradeResult(_) => Kind::TradeResult,
            Request::TradeStatus(_) => Kind::TradeStatus,
            Request::TradeUpdate(_) => Kind::TradeUpdate,
            Request::DataMaintenance(_) => Kind::DataMaintenance,
        }
    }

    /// Runs all statements between BEGIN and COMMIT.
    pub async fn perform(&self, session: &mut Session, broker: BrokerMode) -> Result<Outcome> {
        match self {
            Request::BrokerVolume(input) => input.perform(session).await,
            Request::CustomerPosition(input) => input.perform(session).await,
            Request::MarketFeed(input) => feed_entry(session, input).await,
            Request::MarketWatch(input) => input.perform(session).await,
            Request::SecurityDetail(input) => input.perform(session).await,
            Request::TradeLookup(input) => input.perform(session).await,
            Request::TradeOrder(input) => input.perform(session).await,
            Request::TradeResult(input) => input.perform(session, broker).await,
            Request::TradeStatus(input) => input.perform(session).await,
            Request::TradeUpdate(input) => input.perform(session).await,
            Request::DataMaintenance(input) => input.perform(session).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deck_has_890_cards_and_the_mix_is_whole() {
        assert_eq!(KINDS.iter().map(|kind| kind.cards()).sum::<usize>(), 890);
        assert!((KINDS.iter().map(|kind| kind.target()).sum::<f64>() - 100.0).abs() < 1e-9);
    }
}
