//! [`Account`]: its owner, broker, balance and permissions, and the basket of securities that it trades.

use super::people::{Person, STRANGERS};
use super::rows::Rows;
use super::{Population, purpose};
use crate::decimal::cents;
use crate::random::Stream;
use crate::tpce::scale::{BROKERS_OF_UNIT, ID_BASE};

/// Number of account ids reserved for each customer.
pub const ACCOUNTS_OF_CUSTOMER_MAX: i64 = 10;

/// An account, given by its customer and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account {
    pub customer: i64,
    pub number: i64,
}

impl Account {
    pub fn id(self) -> i64 {
        (ID_BASE + self.customer) * ACCOUNTS_OF_CUSTOMER_MAX + 1 + self.number
    }

    pub fn of_id(id: i64) -> Account {
        let place = id - 1 - ID_BASE * ACCOUNTS_OF_CUSTOMER_MAX;
        Account { customer: place / ACCOUNTS_OF_CUSTOMER_MAX, number: place % ACCOUNTS_OF_CUSTOMER_MAX }
    }
}

impl Population {
    /// Picks one of a customer's accounts.
    pub fn pick_account(&self, customer: i64, stream: &mut Stream) -> Account {
        Account { customer, number: stream.between(0, self.accounts_of(customer) - 1) }
    }

    /// The index of the account's broker.
    pub fn broker_of(&self, account: Account) -> i64 {
        let mut stream = self.scale.stream(purpose::ACCOUNT, account.id());
        account.customer / self.scale.unit() * BROKERS_OF_UNIT + stream.between(0, BROKERS_OF_UNIT - 1)
    }

    pub fn broker_id(broker: i64) -> i64 {
        ID_BASE + 1 + broker
    }

    pub fn broker_name(&self, broker: i64) -> String {
        let mut stream = self.scale.stream(purpose::BROKER, broker);
        let first = *stream.pick(if stream.clone().percent(50) {
            crate::tpce::words::FEMALE
        } else {
            crate::tpce::words::MALE
        });
        // The number distinguishes brokers of the same name.
        format!("{first} {} {}", crate::tpce::words::last_name(&mut stream), broker + 1)
    }

    /// Tax status: 0 not taxable, 1 taxable and withheld, 2 taxable.
    pub fn tax_status(&self, account: Account) -> i64 {
        let mut stream = self.scale.stream(purpose::ACCOUNT, account.id());
        stream.bits();
        match stream.below(100) {
            0..20 => 0,
            20..70 => 1,
            _ => 2,
        }
    }

    /// The balance before the first run, in cents. It does not include the trades of the history.
    pub fn opening_balance(&self, account: Account) -> i64 {
        let mut stream = self.scale.stream(purpose::ACCOUNT, account.id());
        stream.bits();
        stream.bits();
        let debt = stream.percent(20);
        let amount = stream.between(0, 999_999_999);
        if debt { -amount } else { amount }
    }

    /// The securities that an account trades, ten on average.
    pub fn basket(&self, account: Account) -> Vec<i64> {
        let (low, high) = match (self.tier(account.customer), self.accounts_of(account.customer)) {
            (_, 1) => (6, 14),
            (1, 2) => (4, 16),
            (1, _) => (2, 18),
            (2, 2) => (7, 13),
            (2, 3) => (5, 15),
            (2, 4) => (4, 16),
            (2, 5) => (3, 17),
            (2, _) => (2, 18),
            (_, 5..=6) => (4, 16),
            (_, 7..=8) => (3, 17),
            _ => (2, 18),
        };
        let mut stream = self.scale.stream(purpose::BASKET, account.id());
        let count = stream.between(low, high);
        let mut basket = Vec::new();
        while (basket.len() as i64) < count {
            let security = stream.between(0, self.scale.securities() - 1);
            if !basket.contains(&security) {
                basket.push(security);
            }
        }
        basket
    }

    /// Persons who may act for an account beside its owner, each with a list of rights.
    pub fn permitted(&self, account: Account) -> Vec<(&'static str, Person)> {
        let mut stream = self.scale.stream(purpose::PERMISSION, account.id());
        let count = match stream.below(100) {
            0..60 => 0,
            60..98 => 1,
            _ => 2,
        };
        // Each account has its own strangers.
        let first = STRANGERS + 2 * (account.customer * ACCOUNTS_OF_CUSTOMER_MAX + account.number);
        ["0001", "0011"].into_iter().take(count).zip(first..).map(|(acl, number)| (acl, self.person(number))).collect()
    }

    /// Appends the accounts of a customer and their permissions.
    pub fn account_rows(&self, customer: i64, accounts: &mut Rows, permissions: &mut Rows) {
        let owner = self.person(customer);
        for number in 0..self.accounts_of(customer) {
            let account = Account { customer, number };
            let name = format!("{} {} account {}", owner.first_name, owner.last_name, number + 1);
            accounts.add(&[
                &account.id(),
                &Self::broker_id(self.broker_of(account)),
                &Self::customer_id(customer),
                &name,
                &self.tax_status(account),
                &cents(self.opening_balance(account)),
            ]);
            permissions.add(&[&account.id(), &"0000", &owner.tax_id, &owner.last_name, &owner.first_name]);
            for (acl, person) in self.permitted(account) {
                permissions.add(&[&account.id(), &acl, &person.tax_id, &person.last_name, &person.first_name]);
            }
        }
    }
}
