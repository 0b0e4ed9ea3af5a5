//! [`Person`]: name, tax id and sex of a person, by number.

use super::{Population, purpose};
use crate::tpce::words;

/// A person. Customers have the numbers from 0 on. Persons who may only act for them have the numbers from
/// [`STRANGERS`] on.
pub struct Person {
    pub first_name: String,
    pub last_name: String,
    pub tax_id: String,
    pub is_male: bool,
}

pub const STRANGERS: i64 = 10_000_000;

impl Population {
    pub fn person(&self, number: i64) -> Person {
        let mut stream = self.scale.stream(purpose::PERSON, number);
        let is_male = stream.percent(49);
        let first_name = (*stream.pick(if is_male { words::MALE } else { words::FEMALE })).to_string();
        let last_name = words::last_name(&mut stream);
        // A factor coprime to ten gives every number different digits.
        let digits = number.unsigned_abs().wrapping_mul(7_368_787).wrapping_add(1_234_567) % 10_000_000_000;
        let letters: Vec<char> = words::letters(stream.below(26 * 26 * 26 * 26), 4).chars().collect();
        let digits: Vec<char> = format!("{digits:010}").chars().collect();
        let take = |from: usize, to: usize| digits[from..to].iter().collect::<String>();
        let tax_id = format!(
            "{}{}{}{}{}{}{}{}",
            take(0, 2),
            letters[0],
            take(2, 5),
            letters[1],
            take(5, 8),
            letters[2],
            take(8, 10),
            letters[3]
        );
        Person { first_name, last_name, tax_id, is_male }
    }
}
