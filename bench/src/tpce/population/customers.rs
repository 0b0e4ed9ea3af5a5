//! Customers: their frequency in orders, tiers, addresses, tax rates and watch lists.

use super::accounts::ACCOUNTS_OF_CUSTOMER_MAX;
use super::fixed::{brackets_of, division_of};
use super::rows::{Maybe, Rows};
use super::{Population, purpose};
use crate::random::Stream;
use crate::tpce::calendar::{HISTORY_START, date_text};
use crate::tpce::scale::{EXCHANGES, ID_BASE, ZIP_CODES};
use crate::tpce::words;

/// Step through the customers of a unit. It is a prime that divides no unit's size, so that frequent customers are
/// scattered.
const STEP: i64 = 389;
const SHIFT: i64 = 71;
/// Number of zip codes of the first country, which come first.
pub const ZIP_CODES_HOME: i64 = 8402;
const MAILS: &[&str] =
    &["mail.example", "post.example", "letters.example", "desk.example", "home.example", "inbox.example"];

/// The inverse of the step within a unit.
pub fn inverse_step(unit: i64) -> i64 {
    (1..unit).find(|inverse| STEP * inverse % unit == 1).unwrap_or(1)
}

/// Cumulative weights of the ranks in thousandths. Weights rise from 0.6 to 1.4 over the first tier, to 2.6 over the
/// second, and to 3.4 over the third.
pub fn cumulative_weights(unit: i64) -> Vec<u64> {
    let mut sum = 0;
    (0..unit)
        .map(|rank| {
            let place = rank * 1000 / unit;
            sum += match place {
                ..200 => 600 + 4 * place,
                200..800 => 1000 + 2 * place,
                _ => 2600 + 4 * (place - 800),
            }
            .unsigned_abs();
            sum
        })
        .collect()
}

impl Population {
    /// Picks the customer of an order: each unit with equal probability, and a customer of the unit by weight.
    pub fn pick_customer(&self, stream: &mut Stream) -> i64 {
        let unit = stream.between(0, self.scale.units() - 1);
        self.pick_customer_of(unit, stream)
    }

    /// Like [`Population::pick_customer`], within one unit.
    pub fn pick_customer_of(&self, unit: i64, stream: &mut Stream) -> i64 {
        let total = self.weights.last().copied().unwrap_or(1);
        let drawn = stream.below(total);
        let rank = self.weights.partition_point(|sum| *sum <= drawn) as i64;
        let size = self.scale.unit();
        unit * size + (STEP * rank + SHIFT * unit).rem_euclid(size)
    }

    /// The rank of a customer within the unit, the inverse of `pick_customer_of`.
    pub fn rank(&self, customer: i64) -> i64 {
        let size = self.scale.unit();
        let scattered = (customer % size - SHIFT * (customer / size)).rem_euclid(size);
        scattered * self.inverse_step % size
    }

    pub fn tier(&self, customer: i64) -> i64 {
        self.tier_of_rank(self.rank(customer))
    }

    fn tier_of_rank(&self, rank: i64) -> i64 {
        match rank * 10 / self.scale.unit() {
            0..2 => 1,
            2..8 => 2,
            _ => 3,
        }
    }

    /// Number of a customer's accounts: 1 to 4, 2 to 8 or 5 to 10 by tier, five on average.
    pub fn accounts_of(&self, customer: i64) -> i64 {
        let rank = self.rank(customer);
        let fifth = self.scale.unit() / 5;
        let count = match self.tier_of_rank(rank) {
            1 => 1 + rank % 4,
            2 => {
                // The numbers 2 to 8 are 5 on average. Customers beyond the whole cycles also have 5.
                let place = rank - fifth;
                let rest = 3 * fifth % 7;
                if place < rest { 5 } else { 2 + (place - rest) % 7 }
            }
            _ => {
                let place = rank - 4 * fifth;
                let rest = fifth % 6;
                // The numbers 5 to 10 are 7.5 on average. Customers beyond the whole cycles have 7 and 8 in turn.
                if place < rest { if place % 2 == 0 { 7 } else { 8 } } else { 5 + (place - rest) % 6 }
            }
        };
        count.clamp(1, ACCOUNTS_OF_CUSTOMER_MAX)
    }

    pub fn customer_id(customer: i64) -> i64 {
        ID_BASE + 1 + customer
    }

    pub fn zip_of(&self, address: i64) -> i64 {
        self.scale.stream(purpose::ADDRESS, address).between(0, ZIP_CODES - 1)
    }

    /// The index of a customer's address.
    fn address_of(&self, customer: i64) -> i64 {
        EXCHANGES + self.scale.companies() + customer
    }

    pub fn addresses(&self, range: std::ops::Range<i64>) -> Rows {
        let mut rows = Rows::of("address");
        for address in range {
            let zip = self.zip_of(address);
            let mut stream = self.scale.stream(purpose::ADDRESS, address);
            stream.bits();
            let street = words::street(&mut stream);
            let second = match stream.below(100) {
                0..60 => None,
                60..90 => Some(format!("Apt. {}", stream.between(1, 1000))),
                _ => Some(format!("Suite {}", stream.between(1, 500))),
            };
            let country = if zip < ZIP_CODES_HOME { "USA" } else { "Canada" };
            rows.add(&[&(ID_BASE + 1 + address), &street, &Maybe(second), &super::fixed::zip_code(zip), &country]);
        }
        rows
    }

    /// The tax rates of a customer: ids of a bracket of the country and of one of its division.
    pub fn tax_rates(&self, customer: i64) -> [String; 2] {
        let zip = self.zip_of(self.address_of(customer));
        let mut stream = self.scale.stream(purpose::TAXRATE, customer);
        let country = if zip < ZIP_CODES_HOME {
            format!("US{}", stream.between(1, 5))
        } else {
            format!("CN{}", stream.between(1, 4))
        };
        let division = division_of(zip);
        [country, format!("{}{}", super::fixed::division_code(division), stream.between(0, brackets_of(division) - 1))]
    }

    /// The securities on a customer's watch list, by index.
    pub fn watched(&self, customer: i64) -> Vec<i64> {
        let mut stream = self.scale.stream(purpose::WATCH, customer);
        let count = stream.between(50, 150);
        let mut chosen = std::collections::BTreeSet::new();
        while (chosen.len() as i64) < count {
            chosen.insert(stream.between(0, self.scale.securities() - 1));
        }
        chosen.into_iter().collect()
    }

    /// The id of a customer's watch list. The ids are a permutation of the customers.
    pub fn watch_list_id(&self, customer: i64) -> i64 {
        let size = self.scale.unit();
        ID_BASE + 1 + customer / size * size + (customer % size * STEP + 7) % size
    }

    /// The customers of a unit and all their dependent rows.
    pub fn customer_tables(&self, unit: i64) -> Vec<Rows> {
        let mut customers = Rows::of("customer");
        let mut rates = Rows::of("customer_taxrate");
        let mut lists = Rows::of("watch_list");
        let mut items = Rows::of("watch_item");
        let mut accounts = Rows::of("customer_account");
        let mut permissions = Rows::of("account_permission");
        let size = self.scale.unit();
        for customer in unit * size..(unit + 1) * size {
            self.customer_row(customer, &mut customers);
            let id = Self::customer_id(customer);
            for rate in self.tax_rates(customer) {
                rates.add(&[&rate, &id]);
            }
            let list = self.watch_list_id(customer);
            lists.add(&[&list, &id]);
            for security in self.watched(customer) {
                items.add(&[&list, &self.symbol(security)]);
            }
            self.account_rows(customer, &mut accounts, &mut permissions);
        }
        vec![customers, rates, lists, items, accounts, permissions]
    }

    fn customer_row(&self, customer: i64, rows: &mut Rows) {
        let person = self.person(customer);
        let mut stream = self.scale.stream(purpose::CUSTOMER, customer);
        let initial = words::letters(stream.below(26), 1);
        let (young, old) = match stream.below(100) {
            0..5 => (10, 17),
            5..21 => (19, 24),
            21..38 => (25, 34),
            38..57 => (35, 44),
            57..73 => (45, 54),
            73..84 => (55, 64),
            84..92 => (65, 74),
            92..99 => (75, 84),
            _ => (85, 99),
        };
        let born = HISTORY_START - stream.between(young * 365, old * 365 + 364);
        let mut phone = |extended: u64| {
            let (area, local) = (stream.between(201, 989), stream.between(2_000_000, 9_999_999));
            (area, local, Maybe(stream.percent(extended).then(|| stream.between(1, 999))))
        };
        let phones = [phone(25), phone(15), phone(5)];
        let first = stream.below(MAILS.len() as u64);
        let second = first + 1 + stream.below(MAILS.len() as u64 - 1);
        let mail = |domain: u64| {
            let user = format!("{}.{}", person.first_name, person.last_name).to_lowercase();
            format!("{user}@{}", MAILS[(domain % MAILS.len() as u64) as usize])
        };
        let [one, two, three] = &phones;
        rows.add(&[
            &Self::customer_id(customer),
            &person.tax_id,
            &"ACTV",
            &person.last_name,
            &person.first_name,
            &initial,
            &(if person.is_male { "M" } else { "F" }),
            &self.tier(customer),
            &date_text(born),
            &(ID_BASE + 1 + self.address_of(customer)),
            &"011",
            &one.0,
            &one.1,
            &one.2,
            &"011",
            &two.0,
            &two.1,
            &two.2,
            &"011",
            &three.0,
            &three.1,
            &three.2,
            &mail(first),
            &mail(second),
        ]);
    }
}
