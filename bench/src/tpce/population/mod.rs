//! [`Population`]: the contents of the tables before the first run, as a pure function of [`Scale`] and ids. The driver
//! also asks it for inputs that exist.

mod accounts;
mod customers;
mod fixed;
mod holdings;
mod market;
mod orders;
mod people;
pub mod rows;
mod securities;

pub use accounts::Account;
pub use fixed::{TRADE_TYPES, TradeType};
pub use securities::Wave;

use super::scale::Scale;
use rows::Rows;

/// Purposes of random streams. Each kind of data has its own, so that one may change without the others.
pub mod purpose {
    pub const ADDRESS: u64 = 1;
    pub const PERSON: u64 = 2;
    pub const CUSTOMER: u64 = 3;
    pub const ACCOUNT: u64 = 4;
    pub const BASKET: u64 = 5;
    pub const PERMISSION: u64 = 6;
    pub const TAXRATE: u64 = 7;
    pub const WATCH: u64 = 8;
    pub const COMPANY: u64 = 9;
    pub const SECURITY: u64 = 10;
    pub const DAILY: u64 = 11;
    pub const FINANCIAL: u64 = 12;
    pub const NEWS: u64 = 13;
    pub const ORDER: u64 = 14;
    pub const BROKER: u64 = 15;
    pub const CLIENT: u64 = 16;
    pub const MARKET: u64 = 17;
}

/// The rows that one transaction loads, with the name of the part.
pub struct Part {
    pub name: String,
    pub tables: Vec<Rows>,
}

/// A unit of work that produces parts one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    Fixed,
    Addresses(i64),
    Customers(i64),
    Companies(i64),
    Daily(i64),
    News(i64),
    Orders(i64),
}

/// Companies per part of news.
const NEWS_OF_PART: i64 = 100;
/// Securities per part of market days.
const DAILY_OF_PART: i64 = 40;
/// Addresses per part.
const ADDRESSES_OF_PART: i64 = 20_000;

/// The population of a scale.
pub struct Population {
    pub scale: Scale,
    /// For each rank of a load unit, the sum of the weights up to it.
    weights: Vec<u64>,
    inverse_step: i64,
    /// For each industry, the number of companies up to it.
    industries: Vec<i64>,
}

impl Population {
    pub fn new(scale: Scale) -> Population {
        let weights = customers::cumulative_weights(scale.unit());
        let inverse_step = customers::inverse_step(scale.unit());
        let industries = market::industry_bounds(scale.companies());
        Population { scale, weights, inverse_step, industries }
    }

    pub fn sector_name(sector: i64) -> &'static str {
        fixed::sector_name(sector)
    }

    pub fn industry_name(industry: i64) -> String {
        fixed::industry_name(industry)
    }

    /// All jobs, the longest first.
    pub fn jobs(&self) -> Vec<Job> {
        let scale = &self.scale;
        let parts = |count: i64, size: i64| 0..(count + size - 1) / size;
        let mut jobs = vec![Job::Fixed];
        jobs.extend((0..scale.units()).map(Job::Orders));
        jobs.extend((0..scale.units()).map(Job::Customers));
        jobs.extend(parts(scale.securities(), DAILY_OF_PART).map(Job::Daily));
        jobs.extend(parts(scale.companies(), NEWS_OF_PART).map(Job::News));
        jobs.extend(parts(scale.companies(), super::scale::COMPANIES_OF_BLOCK).map(Job::Companies));
        jobs.extend(parts(scale.addresses(), ADDRESSES_OF_PART).map(Job::Addresses));
        jobs
    }

    /// Produces the parts of a job until `emit` answers `false`.
    pub fn produce(&self, job: Job, emit: &mut dyn FnMut(Part) -> bool) {
        let range = |part: i64, size: i64, count: i64| part * size..((part + 1) * size).min(count);
        let scale = &self.scale;
        let part = match job {
            Job::Orders(unit) => return self.simulate(unit, emit),
            Job::Fixed => Part { name: "fixed".into(), tables: self.fixed_tables() },
            Job::Customers(unit) => Part { name: format!("customers/{unit}"), tables: self.customer_tables(unit) },
            Job::Addresses(part) => Part {
                name: format!("addresses/{part}"),
                tables: vec![self.addresses(range(part, ADDRESSES_OF_PART, scale.addresses()))],
            },
            Job::Companies(block) => Part { name: format!("companies/{block}"), tables: self.company_tables(block) },
            Job::Daily(part) => Part {
                name: format!("daily/{part}"),
                tables: vec![self.daily_market(range(part, DAILY_OF_PART, scale.securities()))],
            },
            Job::News(part) => {
                Part { name: format!("news/{part}"), tables: self.news(range(part, NEWS_OF_PART, scale.companies())) }
            }
        };
        emit(part);
    }
}

#[cfg(test)]
mod tests;
