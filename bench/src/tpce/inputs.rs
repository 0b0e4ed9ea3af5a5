//! [`Customers`]: the requests of emulated customers, a shuffled deck of transactions with their inputs. All inputs
//! refer to existing rows.

use super::calendar::{MARKET_START, moment, weekday};
use super::population::{Account, Population, TRADE_TYPES, purpose};
use super::scale::{INDUSTRIES, SECTORS};
use super::transactions::*;
use crate::random::Stream;
use std::sync::Arc;

/// Distance of the latest start of a search from the end of the history, in milliseconds of trading time.
const BACK_OFF_ACCOUNT: i64 = 32 * 3600 * 1000;
const BACK_OFF_SECURITY: i64 = 200 * 60 * 1000;
const BACK_OFF_LOTS: i64 = 500 * 60 * 1000;
/// Range of company ids within which an industry is watched.
const WINDOW: i64 = 5000;

/// The random inputs of one client.
pub struct Customers {
    population: Arc<Population>,
    stream: Stream,
    deck: Vec<Kind>,
}

impl Customers {
    pub fn new(population: Arc<Population>, seed: u64, client: usize) -> Customers {
        let stream = Stream::of(seed, purpose::CLIENT, client as u64);
        Customers { population, stream, deck: Vec::new() }
    }

    /// Draws the next card. The deck is shuffled again once all its cards are drawn.
    pub fn draw(&mut self) -> Kind {
        if self.deck.is_empty() {
            self.deck = KINDS.iter().flat_map(|kind| std::iter::repeat_n(*kind, kind.cards())).collect();
            self.stream.shuffle(&mut self.deck);
        }
        self.deck.pop().unwrap_or(Kind::TradeStatus)
    }

    /// Creates the inputs for a card.
    pub fn request(&mut self, kind: Kind) -> Request {
        match kind {
            Kind::BrokerVolume => Request::BrokerVolume(self.broker_volume()),
            Kind::CustomerPosition => Request::CustomerPosition(self.customer_position()),
            Kind::MarketWatch => Request::MarketWatch(self.market_watch()),
            Kind::SecurityDetail => Request::SecurityDetail(self.security_detail()),
            Kind::TradeLookup => {
                let wanted = match self.stream.below(100) {
                    0..30 => self.ids(),
                    30..60 => self.of_account(),
                    60..90 => self.of_security(),
                    _ => Wanted::LotsOf { account: self.account().id(), from: self.start(BACK_OFF_LOTS) },
                };
                Request::TradeLookup(TradeLookup(wanted))
            }
            Kind::TradeUpdate => {
                let wanted = match self.stream.below(100) {
                    0..33 => self.ids(),
                    33..66 => self.of_account(),
                    _ => self.of_security(),
                };
                Request::TradeUpdate(TradeUpdate(wanted))
            }
            Kind::TradeOrder => Request::TradeOrder(Box::new(self.trade_order())),
            // The market and the maintenance create these inputs themselves.
            Kind::TradeStatus | Kind::MarketFeed | Kind::TradeResult | Kind::DataMaintenance => {
                Request::TradeStatus(TradeStatus { account: self.account().id() })
            }
        }
    }

    fn account(&mut self) -> Account {
        let customer = self.population.pick_customer(&mut self.stream);
        self.population.pick_account(customer, &mut self.stream)
    }

    fn security(&mut self) -> i64 {
        self.stream.between(0, self.population.scale.securities() - 1)
    }

    fn broker_volume(&mut self) -> BrokerVolume {
        let total = self.population.scale.brokers();
        let count = self.stream.between(20, 40).min(total) as usize;
        let mut places: Vec<i64> = (0..total).collect();
        self.stream.shuffle(&mut places);
        let brokers = places.into_iter().take(count).map(|place| self.population.broker_name(place)).collect();
        let sector = Population::sector_name(self.stream.between(0, SECTORS - 1));
        BrokerVolume { brokers, sector }
    }

    fn customer_position(&mut self) -> CustomerPosition {
        let customer = self.population.pick_customer(&mut self.stream);
        let tax_id = self.stream.percent(50).then(|| self.population.person(customer).tax_id);
        let history_of = self.stream.percent(50).then(|| self.stream.bits());
        CustomerPosition { customer: Population::customer_id(customer), tax_id, history_of }
    }

    fn market_watch(&mut self) -> MarketWatch {
        let weeks = self.population.scale.market_days / 5;
        let week = self.stream.skewed(0, (weeks - 6).min(255), 255, 0) + 5;
        let day = match self.stream.below(100) {
            0..20 => 0,
            20..27 => 1,
            27..33 => 2,
            33..40 => 3,
            _ => 4,
        };
        let watched = match self.stream.below(100) {
            0..60 => Watched::List(Population::customer_id(self.population.pick_customer(&mut self.stream))),
            60..95 => Watched::Held(self.account().id()),
            _ => {
                let companies = self.population.scale.companies();
                let first = self.stream.between(0, (companies - WINDOW).max(0));
                let name = Population::industry_name(self.stream.between(0, INDUSTRIES - 1));
                Watched::Industry(name, Population::company_id(first), Population::company_id(first + WINDOW - 1))
            }
        };
        MarketWatch { watched, since: MARKET_START + week * 7 + day }
    }

    fn security_detail(&mut self) -> SecurityDetail {
        let security = self.security();
        let rows = self.stream.between(5, 20);
        let first = self.stream.between(0, self.population.scale.market_days - rows);
        SecurityDetail {
            symbol: self.population.symbol(security),
            rows,
            since: weekday(MARKET_START, first),
            with_text: self.stream.percent(1),
        }
    }

    fn ids(&mut self) -> Wanted {
        let scale = &self.population.scale;
        let last = scale.unit_slots() * scale.units() - 1;
        let mut ids = Vec::new();
        while ids.len() < TRADES {
            let drawn = scale.nth_trade(self.stream.skewed(0, last, 65_535, 7));
            ids.extend(drawn.filter(|id| !ids.contains(id)));
        }
        Wanted::Ids(ids)
    }

    /// The start of a search in the history. In a short history it lies within the first fifth at least.
    fn start(&mut self, back_off: i64) -> i64 {
        let history = self.population.scale.history_ms();
        let latest = (history - back_off).max(history / 5);
        moment(self.stream.skewed(0, history - 1, 4095, 16).min(latest))
    }

    fn end(&self) -> i64 {
        moment(self.population.scale.history_ms())
    }

    fn of_account(&mut self) -> Wanted {
        let account = self.account().id();
        Wanted::OfAccount { account, from: self.start(BACK_OFF_ACCOUNT), to: self.end() }
    }

    fn of_security(&mut self) -> Wanted {
        let security = self.security();
        let symbol = self.population.symbol(security);
        Wanted::OfSecurity { symbol, from: self.start(BACK_OFF_SECURITY), to: self.end() }
    }

    fn trade_order(&mut self) -> TradeOrder {
        let order = self.population.draw_order(None, 0, &mut self.stream);
        let mut executor = self.population.person(order.account.customer);
        // A quarter of the orders for accounts with permitted persons come from such a person. Four accounts in ten
        // have one, so this is one order in ten.
        let mut others = self.population.permitted(order.account);
        if !others.is_empty() && self.stream.percent(25) {
            executor = others.swap_remove(self.stream.below(others.len() as u64) as usize).1;
        }
        // 60 in 100 orders are market orders. Half of the limit sales are stop-loss orders.
        let kind = match self.stream.below(100) {
            0..30 => 0,
            30..60 => 1,
            60..80 => 2,
            80..90 => 3,
            _ => 4,
        };
        let trade_type = &TRADE_TYPES[kind];
        let by_name = self.stream.percent(40).then(|| {
            let (company, _) = Population::company_of(order.security);
            (Population::company_name(company), Population::issue(order.security))
        });
        TradeOrder {
            account: order.account.id(),
            executor_first: executor.first_name,
            executor_last: executor.last_name,
            executor_tax_id: executor.tax_id,
            symbol: self.population.symbol(order.security),
            by_name,
            trade_type,
            quantity: order.quantity,
            is_lifo: order.is_lifo,
            on_margin: !trade_type.is_sell && self.stream.percent(16),
            price: self.stream.between(2000, 3000),
            roll_back: self.stream.below(101) == 0,
        }
    }

    /// Creates the inputs of the n-th Data-Maintenance of a run.
    pub fn maintenance(&mut self, n: usize) -> Request {
        let customer = self.population.pick_customer(&mut self.stream);
        let security = self.security();
        let volume = self.stream.between(1, 3);
        Request::DataMaintenance(DataMaintenance {
            what: MAINTAINED[n % MAINTAINED.len()],
            account: self.population.pick_account(customer, &mut self.stream).id(),
            customer: Population::customer_id(customer),
            company: Population::company_id(self.stream.between(0, self.population.scale.companies() - 1)),
            of_company: self.stream.percent(33),
            symbol: self.population.symbol(security),
            day_of_month: self.stream.between(1, 28),
            volume: if self.stream.percent(50) { volume } else { -volume },
            tax_id: format!("US{}", self.stream.between(1, 5)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpce::scale::tiny;

    #[test]
    fn a_deck_is_dealt_whole() {
        let mut customers = Customers::new(Arc::new(Population::new(tiny())), 1, 0);
        let mut counts = [0; KINDS.len()];
        (0..890).for_each(|_| counts[customers.draw().place()] += 1);
        assert!(KINDS.iter().all(|kind| counts[kind.place()] == kind.cards()));
    }

    #[test]
    fn one_order_in_a_hundred_and_one_is_rolled_back() {
        let mut customers = Customers::new(Arc::new(Population::new(tiny())), 1, 0);
        let back = (0..20_000).filter(|_| customers.trade_order().roll_back).count();
        assert!((150..250).contains(&back), "{back}");
    }
}
