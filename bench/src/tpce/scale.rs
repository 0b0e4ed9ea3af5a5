//! [`Scale`]: the size of a population, and the ids and row counts that follow from it. All data is a function of these
//! few numbers.

use crate::random::mix;

/// Offset of the ids of customers, companies and addresses. It makes each exceed 32 bits.
pub const ID_BASE: i64 = 4_300_000_000;
/// The smallest trade id.
pub const TRADE_BASE: i64 = 200_000_000_000_000;
/// Customers of a full load unit.
const UNIT: i64 = 1000;
/// Number of slots of which one is a gap in the trade ids. A gap stands for an order that was rolled back.
const SLOTS: i64 = 101;
/// The index of the gap among these slots.
const GAP: i64 = 51;
/// Trades of a customer in ten days of eight hours, at one trade per second for 500 customers.
const TRADES_IN_TEN_DAYS: i64 = 576;

pub const BROKERS_OF_UNIT: i64 = 10;
pub const SECURITIES_OF_BLOCK: i64 = 685;
pub const COMPANIES_OF_BLOCK: i64 = 500;
pub const INDUSTRIES: i64 = 102;
pub const SECTORS: i64 = 12;
pub const ZIP_CODES: i64 = 14_741;
pub const EXCHANGES: i64 = 4;
/// Quarters of financial figures per company.
pub const QUARTERS: i64 = 20;
/// Milliseconds of a trading day of eight hours.
pub const DAY_MS: i64 = 8 * 3600 * 1000;

/// The size of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    pub customers: i64,
    /// Number of trading days in the history.
    pub days: i64,
    /// Number of weekdays in daily_market.
    pub market_days: i64,
    /// Size of one news item in bytes.
    pub news_bytes: i64,
    pub seed: u64,
}

impl Scale {
    /// Errors: the generator does not support the size.
    pub fn validate(&self) -> Result<(), String> {
        let unit_fits = self.customers >= 100 && self.customers < UNIT && self.customers % 100 == 0;
        if !unit_fits && (self.customers < UNIT || self.customers % UNIT != 0 || self.customers > 1_000_000) {
            return Err("customers must be 100, 200, … 900, or a multiple of 1000 up to a million".into());
        }
        if !(1..=300).contains(&self.days) {
            return Err("days must be between 1 and 300".into());
        }
        if !(50..=1305).contains(&self.market_days) || self.market_days % 5 != 0 {
            return Err("market days must be a multiple of 5 between 50 and 1305".into());
        }
        if !(100..=100_000).contains(&self.news_bytes) {
            return Err("a news item has 100 to 100000 bytes".into());
        }
        Ok(())
    }

    /// Number of customers in a load unit.
    pub fn unit(&self) -> i64 {
        self.customers.min(UNIT)
    }

    pub fn units(&self) -> i64 {
        self.customers / self.unit()
    }

    pub fn brokers(&self) -> i64 {
        self.units() * BROKERS_OF_UNIT
    }

    /// Number of companies. The market is at least as large as for a full load unit.
    pub fn companies(&self) -> i64 {
        (self.customers / 2).max(COMPANIES_OF_BLOCK)
    }

    pub fn securities(&self) -> i64 {
        self.companies() / COMPANIES_OF_BLOCK * SECURITIES_OF_BLOCK
    }

    pub fn addresses(&self) -> i64 {
        EXCHANGES + self.companies() + self.customers
    }

    /// Trades of one load unit.
    pub fn unit_trades(&self) -> i64 {
        self.unit() * self.days * TRADES_IN_TEN_DAYS / 10
    }

    pub fn trades(&self) -> i64 {
        self.unit_trades() * self.units()
    }

    /// Order slots of one load unit, including gaps.
    pub fn unit_slots(&self) -> i64 {
        let full = self.unit_trades() / (SLOTS - 1);
        let rest = self.unit_trades() % (SLOTS - 1);
        full * SLOTS + if rest > GAP { rest + 1 } else { rest }
    }

    /// Whether the slot is a gap, without a trade.
    pub fn is_gap(slot: i64) -> bool {
        slot % SLOTS == GAP
    }

    /// The trade id of a slot of a unit. Units take turns, so that ids follow time.
    pub fn trade_id(&self, unit: i64, slot: i64) -> i64 {
        TRADE_BASE + slot * self.units() + unit
    }

    /// An upper bound of the trade ids of the initial population.
    pub fn last_trade_id(&self) -> i64 {
        TRADE_BASE + self.unit_slots() * self.units() - 1
    }

    /// The n-th possible trade id (from 0). `None` for a gap.
    pub fn nth_trade(&self, n: i64) -> Option<i64> {
        (!Self::is_gap(n / self.units())).then_some(TRADE_BASE + n)
    }

    /// Length of the history in milliseconds of trading time.
    pub fn history_ms(&self) -> i64 {
        self.days * DAY_MS
    }

    /// The random stream of a purpose and an id.
    pub fn stream(&self, purpose: u64, id: i64) -> crate::random::Stream {
        crate::random::Stream::of(self.seed, purpose, mix(id.cast_unsigned()))
    }

    /// Tables and their row counts after the load, as far as they are known without generating.
    pub fn fixed_counts(&self) -> Vec<(&'static str, i64)> {
        vec![
            ("address", self.addresses()),
            ("broker", self.brokers()),
            ("charge", 15),
            ("commission_rate", 240),
            ("company", self.companies()),
            ("company_competitor", 3 * self.companies()),
            ("customer", self.customers),
            ("customer_account", 5 * self.customers),
            ("customer_taxrate", 2 * self.customers),
            ("daily_market", self.market_days * self.securities()),
            ("exchange", EXCHANGES),
            ("financial", QUARTERS * self.companies()),
            ("industry", INDUSTRIES),
            ("last_trade", self.securities()),
            ("news_item", 2 * self.companies()),
            ("news_xref", 2 * self.companies()),
            ("sector", SECTORS),
            ("security", self.securities()),
            ("settlement", self.trades()),
            ("status_type", 5),
            ("taxrate", 320),
            ("trade", self.trades()),
            ("trade_request", 0),
            ("trade_type", 5),
            ("watch_list", self.customers),
            ("zip_code", ZIP_CODES),
        ]
    }
}

#[cfg(test)]
pub fn tiny() -> Scale {
    Scale { customers: 100, days: 1, market_days: 50, news_bytes: 200, seed: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_exactly_the_trades() {
        for (customers, days) in [(100, 1), (300, 3), (1000, 5), (2000, 7)] {
            let scale = Scale { customers, days, ..tiny() };
            scale.validate().unwrap();
            let made = (0..scale.unit_slots()).filter(|slot| !Scale::is_gap(*slot)).count();
            assert_eq!(made as i64, scale.unit_trades());
            let all = (0..scale.unit_slots() * scale.units()).filter_map(|n| scale.nth_trade(n)).count();
            assert_eq!(all as i64, scale.trades());
        }
        assert_eq!(Scale { customers: 1000, days: 1, ..tiny() }.trades(), 57_600);
    }
}
