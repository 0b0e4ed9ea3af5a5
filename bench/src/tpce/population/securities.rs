//! Securities: their companies, their symbols, and the [`Wave`] that their prices follow.

use super::{Population, purpose};
use crate::tpce::scale::{COMPANIES_OF_BLOCK, EXCHANGES, ID_BASE, SECURITIES_OF_BLOCK};
use crate::tpce::words;

/// The price of a security as a function of time: a triangle wave between 20.00 and 30.00 with a period of 15 minutes.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    phase_ms: i64,
}

const PERIOD_MS: i64 = 900_000;
const HALF_MS: i64 = PERIOD_MS / 2;
/// The lowest price in cents.
pub const PRICE_LOW: i64 = 2000;
pub const PRICE_HIGH: i64 = 3000;
/// Time in milliseconds in which the price changes by a cent.
const CENT_MS: i64 = HALF_MS / (PRICE_HIGH - PRICE_LOW);

impl Wave {
    /// The wave of a security. The phases are scattered over the period.
    pub fn of(security: i64) -> Wave {
        Wave { phase_ms: (security * 556_237) % PERIOD_MS }
    }

    fn place(self, at_ms: i64) -> i64 {
        (at_ms + self.phase_ms).rem_euclid(PERIOD_MS)
    }

    /// The price in cents at a moment.
    pub fn price(self, at_ms: i64) -> i64 {
        let place = self.place(at_ms);
        if place < HALF_MS { PRICE_LOW + place / CENT_MS } else { PRICE_HIGH - (place - HALF_MS) / CENT_MS }
    }

    /// Milliseconds from a moment until the price is first at or below (or at or above) a limit between the extremes.
    pub fn wait(self, at_ms: i64, limit: i64, falling: bool) -> i64 {
        let price = self.price(at_ms);
        if (falling && price <= limit) || (!falling && price >= limit) {
            return 0;
        }
        let meets = if falling { HALF_MS + (PRICE_HIGH - limit) * CENT_MS } else { (limit - PRICE_LOW) * CENT_MS };
        (meets - self.place(at_ms)).rem_euclid(PERIOD_MS)
    }
}

/// The classes of shares that a company may issue.
const ISSUES: [&str; 5] = ["COMMON", "PREF_A", "PREF_B", "PREF_C", "PREF_D"];
/// Suffixes of the symbols of preferred shares.
const ENDINGS: [&str; 5] = ["", ".A", ".B", ".C", ".D"];

impl Population {
    /// The company of a security and the index of its issue. Each company has common shares, every fifth also PREF_A,
    /// every tenth PREF_B, every twentieth PREF_C, every fiftieth PREF_D.
    pub fn company_of(security: i64) -> (i64, usize) {
        let (block, place) = (security / SECURITIES_OF_BLOCK, security % SECURITIES_OF_BLOCK);
        let (company, issue) = match place {
            0..500 => (place, 0),
            500..600 => ((place - 500) * 5, 1),
            600..650 => ((place - 600) * 10, 2),
            650..675 => ((place - 650) * 20, 3),
            _ => ((place - 675) * 50, 4),
        };
        (block * COMPANIES_OF_BLOCK + company, issue)
    }

    pub fn issue(security: i64) -> &'static str {
        ISSUES[Self::company_of(security).1]
    }

    pub fn symbol(&self, security: i64) -> String {
        let (company, issue) = Self::company_of(security);
        // Four letters. A factor coprime to their number scatters neighbours.
        let letters = words::letters(company.unsigned_abs().wrapping_mul(93_719).wrapping_add(31_337) % 456_976, 4);
        format!("{letters}{}", ENDINGS[issue])
    }

    pub fn exchange_of(&self, security: i64) -> i64 {
        self.scale.stream(purpose::SECURITY, security).between(0, EXCHANGES - 1)
    }

    pub fn company_id(company: i64) -> i64 {
        ID_BASE + 1 + company
    }

    pub fn company_name(company: i64) -> String {
        words::company(company.unsigned_abs())
    }

    pub fn security_name(security: i64) -> String {
        let (company, issue) = Self::company_of(security);
        format!("{} of {}", ISSUES[issue], Self::company_name(company))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_met_exactly_when_the_wait_ends() {
        for security in 0..20 {
            let wave = Wave::of(security);
            for at in [0, 12_345, 449_999, 450_000, 899_999] {
                for limit in [2000, 2001, 2500, 2999, 3000] {
                    for falling in [true, false] {
                        let met = |ms: i64| {
                            let price = wave.price(ms);
                            if falling { price <= limit } else { price >= limit }
                        };
                        let wait = wave.wait(at, limit, falling);
                        assert!(met(at + wait), "{security} {at} {limit} {falling}");
                        assert!(wait == 0 || !met(at + wait - 1), "{security} {at} {limit} {falling}");
                    }
                }
            }
        }
    }
}
