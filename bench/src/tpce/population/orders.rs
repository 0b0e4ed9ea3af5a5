//! [`Order`]: one order of the history, and the simulation that executes the orders of a load unit in time order.

use super::fixed::{TRADE_TYPES, TradeType, charge, commission_rate};
use super::holdings::Holdings;
use super::rows::{Flag, Maybe, Rows};
use super::securities::{PRICE_HIGH, PRICE_LOW, Wave};
use super::{Account, Part, Population, purpose};
use crate::decimal::{cents, divide};
use crate::random::Stream;
use crate::tpce::calendar::{DAY_MICROS, date_text, moment, moment_text};
use crate::tpce::scale::{BROKERS_OF_UNIT, Scale};

/// Trades that are loaded in one transaction.
const TRADES_OF_PART: i64 = 10_000;
const QUANTITIES: [i64; 4] = [100, 200, 400, 800];

/// An order of a customer. Moments are milliseconds of trading time.
#[derive(Clone, Debug)]
pub struct Order {
    pub account: Account,
    pub security: i64,
    /// Index of the type in [`TRADE_TYPES`].
    pub kind: usize,
    pub quantity: i64,
    pub is_lifo: bool,
    pub is_cash: bool,
    /// Bid price in cents.
    pub bid: i64,
    started: i64,
    submitted: i64,
    completed: i64,
}

impl Order {
    pub fn trade_type(&self) -> &'static TradeType {
        &TRADE_TYPES[self.kind]
    }
}

/// Draws the index of a type, a quantity, whether the order is last in first out, and whether it is in cash.
fn draw_terms(stream: &mut Stream) -> (usize, i64, bool, bool) {
    let kind = match stream.below(100) {
        0..30 => 0,
        30..60 => 1,
        60..80 => 2,
        80..90 => 3,
        _ => 4,
    };
    let (quantity, is_lifo) = (*stream.pick(&QUANTITIES), stream.percent(35));
    let on_margin = stream.percent(16) && !TRADE_TYPES[kind].is_sell;
    (kind, quantity, is_lifo, !on_margin)
}

impl Population {
    /// Draws an order at a moment of trading time, of a customer of the given unit or of any unit.
    pub fn draw_order(&self, unit: Option<i64>, started: i64, stream: &mut Stream) -> Order {
        let customer = match unit {
            Some(unit) => self.pick_customer_of(unit, stream),
            None => self.pick_customer(stream),
        };
        let account = self.pick_account(customer, stream);
        let security = *stream.pick(&self.basket(account));
        let (kind, quantity, is_lifo, is_cash) = draw_terms(stream);
        let wave = Wave::of(security);
        let limit = stream.between(PRICE_LOW, PRICE_HIGH);
        let trade_type = &TRADE_TYPES[kind];
        let (bid, submitted) = if trade_type.is_market {
            (wave.price(started), started)
        } else {
            // A stop-loss and a limit buy wait for a lower price, a limit sale for a higher price.
            let wait = wave.wait(started, limit, trade_type.id != "TLS");
            (limit, started + if wait == 0 { stream.between(500, 1500) } else { wait })
        };
        let completed = submitted + (stream.exponential(1.0, 5.0) * 1000.0) as i64 + 1000;
        Order { account, security, kind, quantity, is_lifo, is_cash, bid, started, submitted, completed }
    }

    /// The order of a slot of the history.
    fn order(&self, unit: i64, slot: i64) -> Order {
        let mut stream = self.scale.stream(purpose::ORDER, slot * self.scale.units() + unit);
        let (slots, history) = (self.scale.unit_slots(), self.scale.history_ms());
        let (begin, end) = (slot * history / slots, (slot + 1) * history / slots);
        let started = stream.between(begin, end.max(begin + 1) - 1);
        self.draw_order(Some(unit), started, &mut stream)
    }

    /// Executes the orders of a unit and emits the resulting rows.
    pub fn simulate(&self, unit: i64, emit: &mut dyn FnMut(Part) -> bool) {
        let slots = (0..self.scale.unit_slots()).filter(|slot| !Scale::is_gap(*slot));
        let mut queue: Vec<(i64, i64)> = slots.map(|slot| (self.order(unit, slot).completed, slot)).collect();
        queue.sort_unstable();
        let mut tables = Tables::new();
        let mut holdings = Holdings::default();
        let mut brokers = [(0i64, 0i64); BROKERS_OF_UNIT as usize];
        let mut part = 0;
        for (_, slot) in &queue {
            let order = self.order(unit, *slot);
            let commission = self.execute(&order, self.scale.trade_id(unit, *slot), &mut holdings, &mut tables);
            let place = (self.broker_of(order.account) % BROKERS_OF_UNIT) as usize;
            brokers[place].0 += 1;
            brokers[place].1 += commission;
            if tables.trades.count == TRADES_OF_PART {
                if !emit(Part { name: format!("orders/{unit}/{part}"), tables: tables.take(&mut holdings) }) {
                    return;
                }
                part += 1;
            }
        }
        let mut rows = tables.take(&mut holdings);
        let mut broker_rows = Rows::of("broker");
        for (place, (count, sum)) in (unit * BROKERS_OF_UNIT..).zip(brokers) {
            broker_rows.add(&[&Self::broker_id(place), &"ACTV", &self.broker_name(place), &count, &cents(sum)]);
        }
        rows.push(broker_rows);
        rows.extend(holdings.remaining(self));
        emit(Part { name: format!("orders/{unit}/end"), tables: rows });
    }

    /// Executes one trade. Answers its commission in cents.
    fn execute(&self, order: &Order, id: i64, holdings: &mut Holdings, tables: &mut Tables) -> i64 {
        let trade_type = order.trade_type();
        let wave_price = Wave::of(order.security).price(order.completed);
        // A limit is a bound: a buyer pays no more, and a seller gets no less.
        let price = match trade_type.id {
            "TLB" => wave_price.min(order.bid),
            "TLS" => wave_price.max(order.bid),
            _ => wave_price,
        };
        let tier = self.tier(order.account.customer);
        let charge = charge(tier, order.kind);
        let rate = commission_rate(tier, order.kind, self.exchange_of(order.security), order.quantity);
        let commission = divide(i128::from(rate * order.quantity * price), 10_000);
        let at = moment(order.completed);
        let gain = holdings.trade(id, order, price, at);
        let status = self.tax_status(order.account);
        let tax = if status > 0 && gain > 0 { self.tax_on(order.account.customer, gain) } else { 0 };
        let value = order.quantity * price;
        let before_tax = if trade_type.is_sell { value - charge - commission } else { -(value + charge + commission) };
        let amount = if status == 1 { before_tax - tax } else { before_tax };

        let owner = self.person(order.account.customer);
        let executor = format!("{} {}", owner.first_name, owner.last_name);
        let completed = moment_text(at);
        tables.trades.add(&[
            &id,
            &completed,
            &"CMPT",
            &trade_type.id,
            &Flag(order.is_cash),
            &self.symbol(order.security),
            &order.quantity,
            &cents(order.bid),
            &order.account.id(),
            &executor,
            &Maybe(Some(cents(price))),
            &cents(charge),
            &cents(commission),
            &cents(tax),
            &Flag(order.is_lifo),
        ]);
        if !trade_type.is_market {
            tables.history.add(&[&id, &moment_text(moment(order.started)), &"PNDG"]);
        }
        tables.history.add(&[&id, &moment_text(moment(order.submitted)), &"SBMT"]);
        tables.history.add(&[&id, &completed, &"CMPT"]);
        let due = date_text(at.div_euclid(DAY_MICROS) + 2);
        let cash_type = if order.is_cash { "Cash Account" } else { "Margin" };
        tables.settlements.add(&[&id, &cash_type, &due, &cents(amount)]);
        if order.is_cash {
            let name =
                format!("{} {} shares of {}", trade_type.name, order.quantity, Self::security_name(order.security));
            tables.cash.add(&[&id, &completed, &cents(amount), &name]);
        }
        commission
    }

    /// The tax on a gain, in cents.
    fn tax_on(&self, customer: i64, gain: i64) -> i64 {
        let sum: i64 = self.tax_rates(customer).iter().map(|id| super::fixed::tax_rate(id)).sum();
        divide(i128::from(gain) * i128::from(sum), 100_000)
    }
}

struct Tables {
    trades: Rows,
    history: Rows,
    settlements: Rows,
    cash: Rows,
}

impl Tables {
    fn new() -> Tables {
        Tables {
            trades: Rows::of("trade"),
            history: Rows::of("trade_history"),
            settlements: Rows::of("settlement"),
            cash: Rows::of("cash_transaction"),
        }
    }

    fn take(&mut self, holdings: &mut Holdings) -> Vec<Rows> {
        let own = [&mut self.trades, &mut self.history, &mut self.settlements, &mut self.cash];
        own.into_iter().map(Rows::take).chain([holdings.history.take()]).collect()
    }
}
