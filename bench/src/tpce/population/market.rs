//! Companies, their securities, financial figures, news and market days.

use super::fixed::{exchange_code, industry_code};
use super::rows::{Maybe, Rows};
use super::securities::Wave;
use super::{Population, purpose};
use crate::decimal::{cents, divide};
use crate::random::Stream;
use crate::tpce::calendar::{HISTORY_START, MARKET_START, date_text, day_of, moment, moment_text, weekday};
use crate::tpce::scale::{COMPANIES_OF_BLOCK, EXCHANGES, ID_BASE, INDUSTRIES, QUARTERS, SECURITIES_OF_BLOCK};
use crate::tpce::words;
use std::ops::Range;

const RATINGS: &[&str] = &[
    "AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB", "BB+", "BB", "BB-", "B+", "B", "B-", "CCC", "CC+", "CC", "CC-",
    "C+", "C", "C-", "DDD", "DD+", "DD", "DD-", "D+", "D", "D-",
];

/// Cumulative numbers of companies by industry. A few industries are large, most are small.
pub fn industry_bounds(companies: i64) -> Vec<i64> {
    let weight = |industry: i64| {
        let place = industry * 37 % INDUSTRIES;
        24 + place * place * place / 4000
    };
    let total: i64 = (0..INDUSTRIES).map(weight).sum();
    let mut sum = 0;
    (0..INDUSTRIES)
        .map(|industry| {
            sum += weight(industry);
            sum * companies / total
        })
        .collect()
}

impl Population {
    pub fn industry_of(&self, company: i64) -> i64 {
        self.industries.partition_point(|bound| *bound <= company) as i64
    }

    /// Three competitors, mostly of the same industry.
    fn competitors(&self, company: i64) -> [i64; 3] {
        let count = self.scale.companies();
        let last = if self.scale.stream(purpose::COMPANY, company).percent(30) { count / 2 } else { 3 };
        [1, 2, last].map(|step| (company + step) % count)
    }

    /// The companies of a block and their dependent rows, except daily_market and news.
    pub fn company_tables(&self, block: i64) -> Vec<Rows> {
        let mut companies = Rows::of("company");
        let mut competitors = Rows::of("company_competitor");
        let mut figures = Rows::of("financial");
        for company in block * COMPANIES_OF_BLOCK..(block + 1) * COMPANIES_OF_BLOCK {
            let id = Self::company_id(company);
            let mut stream = self.scale.stream(purpose::COMPANY, company);
            stream.bits();
            let industry = industry_code(self.industry_of(company));
            let chief = format!("{} {}", stream.pick(words::FEMALE), words::last_name(&mut stream.clone()));
            let opened = MARKET_START - stream.between(0, 200 * 365);
            let rating = *stream.pick(RATINGS);
            companies.add(&[
                &id,
                &"ACTV",
                &Self::company_name(company),
                &industry,
                &rating,
                &chief,
                &(ID_BASE + 1 + EXCHANGES + company),
                &words::prose(&mut stream, 140),
                &date_text(opened),
            ]);
            for other in self.competitors(company) {
                competitors.add(&[&id, &Self::company_id(other), &industry]);
            }
            self.financial_rows(company, &mut figures);
        }
        let mut securities = Rows::of("security");
        let mut last = Rows::of("last_trade");
        for security in block * SECURITIES_OF_BLOCK..(block + 1) * SECURITIES_OF_BLOCK {
            self.security_row(security, &mut securities);
            let price = cents(Wave::of(security).price(self.scale.history_ms()));
            last.add(&[&self.symbol(security), &moment_text(moment(self.scale.history_ms())), &price, &price, &0]);
        }
        vec![companies, competitors, figures, securities, last]
    }

    fn security_row(&self, security: i64, rows: &mut Rows) {
        let mut stream = self.scale.stream(purpose::SECURITY, security);
        stream.bits();
        let issued = MARKET_START - stream.between(0, 100 * 365);
        let high = stream.between(2500, 3000);
        let low = stream.between(2000, high);
        let in_year = |stream: &mut Stream| date_text(HISTORY_START - stream.between(1, 364));
        // 60 of 100 companies pay a dividend per share.
        let (dividend, earned) = match stream.percent(60) {
            true => {
                let earned = stream.between(1, 12_000);
                (divide(i128::from(earned * stream.between(20, 30)), 100), earned)
            }
            false => (0, 0),
        };
        rows.add(&[
            &self.symbol(security),
            &Self::issue(security),
            &"ACTV",
            &Self::security_name(security),
            &exchange_code(self.exchange_of(security)),
            &Self::company_id(Self::company_of(security).0),
            &stream.between(4_000_000, 9_500_000_000),
            &date_text(issued),
            &date_text(issued + stream.between(0, 60)),
            &cents(stream.between(100, 12_000)),
            &cents(high),
            &in_year(&mut stream),
            &cents(low),
            &in_year(&mut stream),
            &cents(dividend),
            &cents(earned),
        ]);
    }

    /// Figures of 20 quarters. Each is 0.90 to 1.15 times the one before.
    fn financial_rows(&self, company: i64, rows: &mut Rows) {
        let mut stream = self.scale.stream(purpose::FINANCIAL, company);
        let mut revenue = stream.between(10_000_000, 1_600_000_000_000);
        let mut earned = stream.between(-30_000_000_000, 300_000_000_000.min(revenue));
        let mut shares = stream.between(400_000, 9_500_000_000);
        let mut inventory = stream.between(1_000_000, 200_000_000_000);
        let mut assets = stream.between(10_000_000, 6_500_000_000_000);
        let mut liability = stream.between(10_000_000, 3_500_000_000_000);
        for quarter in 0..QUARTERS {
            let mut next = |value: i64| divide(i128::from(value) * i128::from(stream.between(90, 115)), 100);
            (revenue, shares, inventory) = (next(revenue), next(shares), next(inventory));
            (assets, liability, earned) = (next(assets), next(liability), next(earned).min(revenue));
            let diluted = shares + shares / 10;
            let (year, of_year) = (2000 + quarter / 4, quarter % 4 + 1);
            let each = |count: i64| cents(divide(i128::from(earned), i128::from(count)));
            rows.add(&[
                &Self::company_id(company),
                &year,
                &of_year,
                &date_text(day_of(year, 3 * of_year - 2, 1)),
                &cents(revenue),
                &cents(earned),
                &each(shares),
                &each(diluted),
                &cents(divide(i128::from(earned) * 100, i128::from(revenue))),
                &cents(inventory),
                &cents(assets),
                &cents(liability),
                &shares,
                &diluted,
            ]);
        }
    }

    /// The market days of some securities.
    pub fn daily_market(&self, securities: Range<i64>) -> Rows {
        let mut rows = Rows::of("daily_market");
        let dates: Vec<String> = (0..self.scale.market_days).map(|day| date_text(weekday(MARKET_START, day))).collect();
        for security in securities {
            let symbol = self.symbol(security);
            let mut stream = self.scale.stream(purpose::DAILY, security);
            for date in &dates {
                let close = stream.between(2000, 3000);
                let (high, low) = (cents(close * 105 / 100), cents(close * 92 / 100));
                rows.add(&[date, &symbol, &cents(close), &high, &low, &stream.between(1000, 10_000)]);
            }
        }
        rows
    }

    /// Two news items for each of some companies.
    pub fn news(&self, companies: Range<i64>) -> Vec<Rows> {
        let mut items = Rows::of("news_item");
        let mut xrefs = Rows::of("news_xref");
        let end = moment(self.scale.history_ms());
        for item in companies.start * 2..companies.end * 2 {
            let mut stream = self.scale.stream(purpose::NEWS, item);
            let id = ID_BASE + 1 + item;
            let headline = format!("{}: {}", Self::company_name(item / 2), words::prose(&mut stream, 30));
            let ago = (stream.between(0, 50) * 86_400 + stream.between(0, 86_399)) * 1_000_000;
            let author = stream
                .percent(80)
                .then(|| format!("{} {}", stream.pick(words::FEMALE), words::last_name(&mut stream.clone())));
            let summary = words::prose(&mut stream, 250);
            let body = words::prose(&mut stream, usize::try_from(self.scale.news_bytes).unwrap_or(0));
            let source = format!("The {} Courier", words::town(stream.below(500)));
            items.add(&[&id, &headline, &summary, &body, &moment_text(end - ago), &source, &Maybe(author)]);
            xrefs.add(&[&id, &Self::company_id(item / 2)]);
        }
        vec![items, xrefs]
    }
}
