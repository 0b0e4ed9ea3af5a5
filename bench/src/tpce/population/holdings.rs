//! [`Holdings`]: the lots that accounts hold while their orders are executed.

use super::orders::Order;
use super::rows::Rows;
use super::{Account, Population};
use crate::decimal::cents;
use crate::tpce::calendar::moment_text;
use std::collections::HashMap;

/// Shares that one trade left in an account. The number is negative if the account owes them.
struct Lot {
    trade: i64,
    moment: i64,
    price: i64,
    quantity: i64,
}

/// The lots of each account and security, oldest first.
pub struct Holdings {
    lots: HashMap<(Account, i64), Vec<Lot>>,
    pub history: Rows,
}

impl Default for Holdings {
    fn default() -> Holdings {
        Holdings { lots: HashMap::new(), history: Rows::of("holding_history") }
    }
}

impl Holdings {
    /// Books a completed trade: it closes lots of the other sign first, and the rest becomes a new lot. Answers the
    /// gain in cents.
    pub fn trade(&mut self, id: i64, order: &Order, price: i64, moment: i64) -> i64 {
        let sign = if order.trade_type().is_sell { -1 } else { 1 };
        let lots = self.lots.entry((order.account, order.security)).or_default();
        let mut need = order.quantity;
        let mut gain = 0;
        while need > 0 {
            let place = if order.is_lifo { lots.len().saturating_sub(1) } else { 0 };
            let Some(lot) = lots.get_mut(place).filter(|lot| lot.quantity.signum() == -sign) else { break };
            let taken = need.min(lot.quantity.abs());
            let before = lot.quantity;
            lot.quantity += sign * taken;
            need -= taken;
            // The sale price minus the purchase price, in whichever order they happened.
            gain += -sign * taken * (price - lot.price);
            self.history.add(&[&lot.trade, &id, &before, &lot.quantity]);
            if lot.quantity == 0 {
                lots.remove(place);
            }
        }
        if need > 0 {
            self.history.add(&[&id, &id, &0, &(sign * need)]);
            lots.push(Lot { trade: id, moment, price, quantity: sign * need });
        }
        gain
    }

    /// The rows of the remaining holdings.
    pub fn remaining(&self, population: &Population) -> Vec<Rows> {
        let mut keys: Vec<_> = self.lots.iter().filter(|(_, lots)| !lots.is_empty()).collect();
        keys.sort_unstable_by_key(|(key, _)| **key);
        let mut summaries = Rows::of("holding_summary");
        let mut holdings = Rows::of("holding");
        for ((account, security), lots) in keys {
            let symbol = population.symbol(*security);
            let sum: i64 = lots.iter().map(|lot| lot.quantity).sum();
            summaries.add(&[&account.id(), &symbol, &sum]);
            for lot in lots {
                let moment = moment_text(lot.moment);
                holdings.add(&[&lot.trade, &account.id(), &symbol, &moment, &cents(lot.price), &lot.quantity]);
            }
        }
        vec![summaries, holdings]
    }
}
