//! The small tables that are the same at every scale: codes, sectors, zip codes, tax rates, charges, commissions.

use super::Population;
use super::customers::ZIP_CODES_HOME;
use super::rows::{Flag, Rows};
use crate::decimal::{Decimal, cents};
use crate::tpce::scale::{EXCHANGES, ID_BASE, INDUSTRIES, SECTORS, ZIP_CODES};
use crate::tpce::words;

pub const STATUS_TYPES: &[(&str, &str)] =
    &[("ACTV", "Active"), ("CMPT", "Completed"), ("CNCL", "Canceled"), ("PNDG", "Pending"), ("SBMT", "Submitted")];

/// A type of order, such as a market buy or a limit sale.
#[derive(Debug, PartialEq, Eq)]
pub struct TradeType {
    pub id: &'static str,
    pub name: &'static str,
    pub is_sell: bool,
    pub is_market: bool,
}

pub const TRADE_TYPES: &[TradeType] = &[
    TradeType { id: "TMB", name: "Market-Buy", is_sell: false, is_market: true },
    TradeType { id: "TMS", name: "Market-Sell", is_sell: true, is_market: true },
    TradeType { id: "TLB", name: "Limit-Buy", is_sell: false, is_market: false },
    TradeType { id: "TLS", name: "Limit-Sell", is_sell: true, is_market: false },
    TradeType { id: "TSL", name: "Stop-Loss", is_sell: true, is_market: false },
];

const SECTOR_NAMES: [&str; SECTORS as usize] = [
    "Agriculture",
    "Building",
    "Chemicals",
    "Clothing",
    "Communication",
    "Energy",
    "Finance",
    "Food",
    "Health",
    "Machines",
    "Minerals",
    "Transport",
];

const INDUSTRY_NAMES: [&str; 9] =
    ["Design", "Equipment", "Exports", "Makers", "Materials", "Research", "Retail", "Services", "Wholesale"];

const EXCHANGE_NAMES: [(&str, &str); EXCHANGES as usize] = [
    ("NORTH", "Northern Exchange"),
    ("EAST", "Eastern Exchange"),
    ("SOUTH", "Southern Exchange"),
    ("WEST", "Western Exchange"),
];

/// Quantity bands of the commissions.
const BANDS: [(i64, i64); 4] = [(1, 200), (201, 500), (501, 2000), (2001, 999_999)];

const DIVISIONS_HOME: i64 = 51;
const DIVISIONS: i64 = 63;

/// The charge in cents for a tier and a type of trade, given by its index.
pub fn charge(tier: i64, trade_type: usize) -> i64 {
    let base = if trade_type < 2 { 350 } else { 450 + if trade_type == 4 { 150 } else { 0 } };
    base + (3 - tier) * 25
}

/// The commission in hundredths of a percent.
pub fn commission_rate(tier: i64, trade_type: usize, exchange: i64, quantity: i64) -> i64 {
    let band = BANDS.iter().position(|(_, high)| quantity <= *high).unwrap_or(3) as i64;
    let kind = if trade_type < 2 { 0 } else { 2 };
    36 + kind - 5 * (tier - 1) - 4 * band + if exchange == 3 { 6 } else { 0 }
}

pub fn zip_code(zip: i64) -> String {
    if zip < ZIP_CODES_HOME {
        return format!("{:05}", 10_001 + zip * 10);
    }
    let place = (zip - ZIP_CODES_HOME).unsigned_abs();
    let letters: Vec<char> = words::letters(place / 10 % (26 * 26) + 26 * 26 * (place / 6760), 3).chars().collect();
    format!("{}{}{} {}{}{}", letters[0], place % 10, letters[1], place / 10 % 10, letters[2], place / 100 % 10)
}

/// The index of the state or province of a zip code.
pub fn division_of(zip: i64) -> i64 {
    if zip < ZIP_CODES_HOME { zip % DIVISIONS_HOME } else { DIVISIONS_HOME + zip % (DIVISIONS - DIVISIONS_HOME) }
}

/// The code of a division, three characters.
pub fn division_code(division: i64) -> String {
    if division < DIVISIONS_HOME { format!("U{division:02}") } else { format!("C{division:02}") }
}

/// Number of tax brackets of a division. There are 311 in all.
pub fn brackets_of(division: i64) -> i64 {
    if division < 59 { 5 } else { 4 }
}

pub fn exchange_code(exchange: i64) -> &'static str {
    EXCHANGE_NAMES[(exchange % EXCHANGES) as usize].0
}

pub fn industry_code(industry: i64) -> String {
    words::letters(industry.unsigned_abs(), 2)
}

pub fn industry_name(industry: i64) -> String {
    let sector = SECTOR_NAMES[(industry % SECTORS) as usize];
    format!("{sector} {}", INDUSTRY_NAMES[(industry / SECTORS) as usize])
}

pub fn sector_name(sector: i64) -> &'static str {
    SECTOR_NAMES[(sector % SECTORS) as usize]
}

/// A tax rate with five decimal places.
fn rate(units: i64) -> Decimal {
    Decimal { units, scale: 5 }
}

impl Population {
    pub fn fixed_tables(&self) -> Vec<Rows> {
        let mut tables = vec![];
        let mut rows = Rows::of("status_type");
        STATUS_TYPES.iter().for_each(|(id, name)| rows.add(&[id, name]));
        tables.push(rows);

        let mut rows = Rows::of("trade_type");
        for kind in TRADE_TYPES {
            rows.add(&[&kind.id, &kind.name, &Flag(kind.is_sell), &Flag(kind.is_market)]);
        }
        tables.push(rows);

        let mut rows = Rows::of("sector");
        (0..SECTORS).for_each(|sector| rows.add(&[&words::letters(sector.unsigned_abs(), 2), &sector_name(sector)]));
        tables.push(rows);

        let mut rows = Rows::of("industry");
        for industry in 0..INDUSTRIES {
            let sector = words::letters((industry % SECTORS).unsigned_abs(), 2);
            rows.add(&[&industry_code(industry), &industry_name(industry), &sector]);
        }
        tables.push(rows);

        let mut rows = Rows::of("zip_code");
        for zip in 0..ZIP_CODES {
            rows.add(&[&zip_code(zip), &words::town(zip.unsigned_abs() / 7), &division_code(division_of(zip))]);
        }
        tables.push(rows);

        let mut rows = Rows::of("exchange");
        for (place, (id, name)) in (0i64..).zip(EXCHANGE_NAMES) {
            let count = (0..self.scale.securities()).filter(|security| self.exchange_of(*security) == place).count();
            rows.add(&[
                &id,
                &name,
                &count,
                &930,
                &1600,
                &format!("Where {} are traded", "shares"),
                &(ID_BASE + 1 + place),
            ]);
        }
        tables.push(rows);
        tables.push(tax_rates());
        tables.push(charges());
        tables.push(commissions());
        tables
    }
}

const RATES_US: [i64; 5] = [15_000, 22_500, 28_000, 33_000, 39_100];
const RATES_CN: [i64; 4] = [16_000, 21_000, 25_000, 29_000];

fn division_rate(division: i64, bracket: i64) -> i64 {
    // Some divisions have a zero rate in their lowest bracket.
    ((division * 131 % 4_000) + bracket * (1_000 + division * 53 % 1_500) - 2_000).max(0)
}

/// The rate of a tax id, in hundred-thousandths.
pub fn tax_rate(id: &str) -> i64 {
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    let (kind, rest) = id.split_at(1);
    let bracket = |rates: &[i64]| rates.get((number(&rest[1..]) - 1).unsigned_abs() as usize).copied().unwrap_or(0);
    match (kind, &rest[..1]) {
        ("U", "S") => bracket(&RATES_US),
        ("C", "N") => bracket(&RATES_CN),
        _ => division_rate(number(&rest[..2]), number(&rest[2..])),
    }
}

fn tax_rates() -> Rows {
    let mut rows = Rows::of("taxrate");
    let mut add = |id: String, name: String| rows.add(&[&id, &name, &rate(tax_rate(&id))]);
    for (country, brackets) in [("US", RATES_US.len()), ("CN", RATES_CN.len())] {
        (1..=brackets).for_each(|place| add(format!("{country}{place}"), format!("{country} Tax of bracket {place}")));
    }
    for division in 0..DIVISIONS {
        let code = division_code(division);
        for bracket in 0..brackets_of(division) {
            add(format!("{code}{bracket}"), format!("{code} Tax of bracket {bracket}"));
        }
    }
    rows
}

fn charges() -> Rows {
    let mut rows = Rows::of("charge");
    for (place, kind) in TRADE_TYPES.iter().enumerate() {
        (1..=3).for_each(|tier| rows.add(&[&kind.id, &tier, &cents(charge(tier, place))]));
    }
    rows
}

fn commissions() -> Rows {
    let mut rows = Rows::of("commission_rate");
    for tier in 1..=3 {
        for (place, kind) in TRADE_TYPES.iter().enumerate() {
            for exchange in 0..EXCHANGES {
                for (from, to) in BANDS {
                    let percent = cents(commission_rate(tier, place, exchange, from));
                    rows.add(&[&tier, &kind.id, &exchange_code(exchange), &from, &to, &percent]);
                }
            }
        }
    }
    rows
}
