//! Translates the contract to google.bigtable.v2: keys, filters, predicates and mutations. Pure functions.
//!
//! One of our rows has the key `r` plus our key, so the empty key is legal and named values have room beside the
//! rows. A named value has the key `m` plus its name; it is in the data family at timestamp 0. Each family has one
//! column, with an empty qualifier. Our timestamps are multiplied by a thousand, because Bigtable counts
//! microseconds in whole milliseconds.

use super::limits::MAX_FILTER_BYTES;
use crate::contract::{ClassRange, Condition, Family, Mutation, ReadFilter, RowRange, TimestampRange, prefix_end};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::{BufMut, Bytes, BytesMut};
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use prost::Message;

/// First byte of the key of a row.
const ROW: u8 = b'r';
/// First byte of the key of a named value.
const NAME: u8 = b'm';
/// Bigtable's microseconds per unit of our timestamps.
const GRANULARITY: u64 = 1000;

fn prefixed(prefix: u8, rest: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(1 + rest.len());
    key.put_u8(prefix);
    key.put_slice(rest);
    key.freeze()
}

/// The Bigtable key of one of our rows.
pub fn row_key(key: &[u8]) -> Bytes {
    prefixed(ROW, key)
}

/// The Bigtable key of a named value.
pub fn name_key(name: &str) -> Bytes {
    prefixed(NAME, name.as_bytes())
}

/// Our key of a Bigtable row. `None` if it is not one of our rows.
pub fn key_of(row_key: &Bytes) -> Option<Bytes> {
    (row_key.first() == Some(&ROW)).then(|| row_key.slice(1..))
}

/// The first Bigtable key in the range, and the first one behind it.
pub fn bounds(range: &RowRange) -> (Bytes, Bytes) {
    let end = range.end.as_ref().map_or_else(|| Bytes::from_static(&[ROW + 1]), |end| row_key(end));
    (row_key(&range.start), end)
}

/// The Bigtable prefix that contains exactly the keys of a range, if there is one.
pub fn prefix_of(range: &RowRange) -> Option<Bytes> {
    (prefix_end(&range.start) == range.end).then(|| row_key(&range.start))
}

/// The name of a family in Bigtable.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::Data => "d",
        Family::Lock => "l",
        Family::Write => "w",
        Family::Rollback => "r",
    }
}

/// The family with this name, if it is ours.
pub fn family_of(name: &str) -> Option<Family> {
    Family::ALL.into_iter().find(|family| family_name(*family) == name)
}

/// Converts our timestamp to Bigtable's microseconds.
fn micros(timestamp: Timestamp) -> i64 {
    i64::try_from(timestamp.0.saturating_mul(GRANULARITY)).unwrap_or(i64::MAX)
}

/// Converts Bigtable's microseconds to our timestamp.
pub fn timestamp_of(micros: i64) -> Timestamp {
    Timestamp(u64::try_from(micros).unwrap_or(0) / GRANULARITY)
}

/// `None` if the range is empty. In Bigtable an end of zero means no end.
fn time_range(range: TimestampRange) -> Option<bt::TimestampRange> {
    if range.from > range.to || range.from > Timestamp::MAX {
        return None;
    }
    let end = if range.to >= Timestamp::MAX { 0 } else { micros(range.to.next()) };
    Some(bt::TimestampRange { start_timestamp_micros: micros(range.from), end_timestamp_micros: end })
}

fn filter(filter: bt::row_filter::Filter) -> bt::RowFilter {
    bt::RowFilter { filter: Some(filter) }
}

/// Applies all filters one after the other. Bigtable requires a chain to have at least two.
fn chain(mut filters: Vec<bt::RowFilter>) -> bt::RowFilter {
    match filters.len() {
        0 => filter(bt::row_filter::Filter::PassAllFilter(true)),
        1 => filters.swap_remove(0),
        _ => filter(bt::row_filter::Filter::Chain(bt::row_filter::Chain { filters })),
    }
}

/// Lets through the cells that any of the filters lets through. `None` without filters.
fn any(mut filters: Vec<bt::RowFilter>) -> Option<bt::RowFilter> {
    match filters.len() {
        0 => None,
        1 => Some(filters.swap_remove(0)),
        _ => Some(filter(bt::row_filter::Filter::Interleave(bt::row_filter::Interleave { filters }))),
    }
}

fn in_family(family: Family) -> bt::RowFilter {
    filter(bt::row_filter::Filter::FamilyNameRegexFilter(family_name(family).to_owned()))
}

fn in_time(range: TimestampRange) -> Option<bt::RowFilter> {
    time_range(range).map(|range| filter(bt::row_filter::Filter::TimestampRangeFilter(range)))
}

fn checked(filter: bt::RowFilter) -> Result<bt::RowFilter> {
    let bytes = filter.encoded_len();
    if bytes > MAX_FILTER_BYTES {
        return Err(StoreError::TooLarge(format!("a filter of {bytes} bytes exceeds Bigtable's {MAX_FILTER_BYTES}")));
    }
    Ok(filter)
}

/// The filter for a read. `None` if no cell can come back.
pub fn read_filter(wanted: &ReadFilter) -> Result<Option<bt::RowFilter>> {
    let mut families = Vec::new();
    for wanted in &wanted.families {
        let Some(time) = in_time(wanted.range) else { continue };
        let mut links = vec![in_family(wanted.family)];
        if wanted.range != TimestampRange::ALL {
            links.push(time);
        }
        if let Ok(cells) = i32::try_from(wanted.cells) {
            links.push(filter(bt::row_filter::Filter::CellsPerColumnLimitFilter(cells)));
        }
        families.push(chain(links));
    }
    any(families).map(checked).transpose()
}

/// A filter that lets one cell of each row through, without its value: for keys alone.
pub fn keys_only() -> bt::RowFilter {
    chain(vec![
        filter(bt::row_filter::Filter::CellsPerRowLimitFilter(1)),
        filter(bt::row_filter::Filter::StripValueTransformer(true)),
    ])
}

/// The filter for the newest cell of a named value.
pub fn named_value() -> bt::RowFilter {
    chain(vec![in_family(Family::Data), filter(bt::row_filter::Filter::CellsPerColumnLimitFilter(1))])
}

fn in_class(class: ClassRange) -> Option<bt::RowFilter> {
    use bt::value_range::{EndValue, StartValue};
    if class == ClassRange::ANY {
        return None;
    }
    let bound = |class: u8| Bytes::copy_from_slice(&[class]);
    // Class 0 includes the empty value.
    let start_value = (class.from > 0).then(|| StartValue::StartValueClosed(bound(class.from)));
    let end_value = class.to.checked_add(1).map(|end| EndValue::EndValueOpen(bound(end)));
    Some(filter(bt::row_filter::Filter::ValueRangeFilter(bt::ValueRange { start_value, end_value })))
}

/// A predicate filter, and the meaning of its result.
#[derive(Debug, PartialEq)]
pub enum Predicate {
    /// The conditions always hold.
    Always,
    /// The conditions hold if the filter finds a cell.
    WhenFound(bt::RowFilter),
    /// The conditions hold if the filter finds no cell.
    UnlessFound(bt::RowFilter),
}

/// Combines the conditions into one filter. Never uses Bigtable's `Condition` filter, which is
/// documented as not atomic.
pub fn predicate(conditions: &[Condition]) -> Result<Predicate> {
    Condition::check_expressible(conditions)?;
    let mut found = Vec::new();
    for condition in conditions {
        match condition {
            Condition::CellEquals { family, timestamp, value } => {
                let Some(time) = in_time(TimestampRange::at(*timestamp)) else {
                    return Err(StoreError::TooLarge(format!("timestamp {timestamp} exceeds {}", Timestamp::MAX)));
                };
                let exactly = bt::ValueRange {
                    start_value: Some(bt::value_range::StartValue::StartValueClosed(value.clone())),
                    end_value: Some(bt::value_range::EndValue::EndValueClosed(value.clone())),
                };
                let exactly = filter(bt::row_filter::Filter::ValueRangeFilter(exactly));
                return checked(chain(vec![in_family(*family), time, exactly])).map(Predicate::WhenFound);
            }
            Condition::NoCell { family, range, class, except } => {
                let ranges = match except {
                    Some(except) if range.contains(*except) => {
                        let before = TimestampRange { from: range.from, to: except.previous() };
                        let after = TimestampRange { from: except.next(), to: range.to };
                        // No timestamp lies before zero.
                        [(*except > Timestamp::ZERO).then_some(before), Some(after)]
                    }
                    _ => [Some(*range), None],
                };
                for range in ranges.into_iter().flatten() {
                    let Some(time) = in_time(range) else { continue };
                    let mut links = vec![in_family(*family)];
                    if range != TimestampRange::ALL {
                        links.push(time);
                    }
                    links.extend(in_class(*class));
                    found.push(chain(links));
                }
            }
        }
    }
    Ok(match any(found) {
        None => Predicate::Always,
        Some(filter) => Predicate::UnlessFound(checked(filter)?),
    })
}

/// Translates the mutations of a row. Leaves out those that cannot change anything.
pub fn mutations(mutations: &[Mutation]) -> Vec<bt::Mutation> {
    use bt::mutation::{DeleteFromColumn, SetCell};
    let one = |mutation: &Mutation| match mutation {
        Mutation::Set { family, timestamp, value } => Some(bt::mutation::Mutation::SetCell(SetCell {
            family_name: family_name(*family).to_owned(),
            column_qualifier: Bytes::new(),
            timestamp_micros: micros(*timestamp),
            value: value.clone(),
        })),
        Mutation::Delete { family, range } => {
            let time_range = time_range(*range)?;
            Some(bt::mutation::Mutation::DeleteFromColumn(DeleteFromColumn {
                family_name: family_name(*family).to_owned(),
                column_qualifier: Bytes::new(),
                time_range: Some(time_range),
            }))
        }
    };
    mutations.iter().filter_map(one).map(|mutation| bt::Mutation { mutation: Some(mutation) }).collect()
}

/// The mutation that removes a whole row.
pub fn delete_row() -> bt::Mutation {
    let all = bt::mutation::DeleteFromRow {};
    bt::Mutation { mutation: Some(bt::mutation::Mutation::DeleteFromRow(all)) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_multiples_of_a_thousand() {
        let range = time_range(TimestampRange { from: Timestamp(5), to: Timestamp(7) }).unwrap();
        assert_eq!((range.start_timestamp_micros, range.end_timestamp_micros), (5000, 8000));
        let all = time_range(TimestampRange::ALL).unwrap();
        assert_eq!((all.start_timestamp_micros, all.end_timestamp_micros), (0, 0));
        assert_eq!(time_range(TimestampRange::after(Timestamp::MAX)), None);
        assert_eq!(time_range(TimestampRange { from: Timestamp(7), to: Timestamp(5) }), None);
        assert_eq!(micros(Timestamp::MAX) % 1000, 0);
        assert_eq!(timestamp_of(micros(Timestamp::MAX)), Timestamp::MAX);
    }

    #[test]
    fn chains_and_interleaves_have_two_filters_at_least() {
        fn walk(filter: &bt::RowFilter) {
            match filter.filter.as_ref().unwrap() {
                bt::row_filter::Filter::Chain(chain) => {
                    assert!(chain.filters.len() >= 2);
                    chain.filters.iter().for_each(walk);
                }
                bt::row_filter::Filter::Interleave(any) => {
                    assert!(any.filters.len() >= 2);
                    any.filters.iter().for_each(walk);
                }
                bt::row_filter::Filter::Condition(_) => panic!("not atomic"),
                _ => {}
            }
        }
        let one = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let two = one.clone().with(Family::Write, TimestampRange::up_to(Timestamp(9)), 1);
        for wanted in [one, two] {
            walk(&read_filter(&wanted).unwrap().unwrap());
        }
        assert_eq!(read_filter(&ReadFilter::new()).unwrap(), None);
        let absent = |range, except| Condition::NoCell { family: Family::Lock, range, class: ClassRange::ANY, except };
        for conditions in [
            vec![absent(TimestampRange::ALL, None)],
            vec![absent(TimestampRange::ALL, Some(Timestamp::ZERO)), absent(TimestampRange::at(Timestamp(3)), None)],
        ] {
            match predicate(&conditions).unwrap() {
                Predicate::UnlessFound(filter) => walk(&filter),
                other => panic!("{other:?}"),
            }
        }
        let never = [absent(TimestampRange::at(Timestamp(3)), Some(Timestamp(3)))];
        assert_eq!(predicate(&never).unwrap(), Predicate::Always);
        assert_eq!(predicate(&[]).unwrap(), Predicate::Always);
    }

    #[test]
    fn filters_beyond_the_limit_are_refused() {
        let equals = |bytes: usize| {
            let value = Bytes::from(vec![1; bytes]);
            predicate(&[Condition::CellEquals { family: Family::Lock, timestamp: Timestamp(1), value }])
        };
        // A lock with the longest key and the longest inlined value.
        assert!(equals(22 + 4095 + 1024).is_ok());
        assert!(matches!(equals(MAX_FILTER_BYTES), Err(StoreError::TooLarge(_))));
    }

    #[test]
    fn ranges_become_prefixes_where_they_are() {
        assert_eq!(prefix_of(&RowRange::all()), Some(Bytes::from_static(b"r")));
        assert_eq!(prefix_of(&RowRange::prefix(&b"ab"[..])), Some(Bytes::from_static(b"rab")));
        let part = RowRange { start: Bytes::from_static(b"a"), end: Some(Bytes::from_static(b"c")) };
        assert_eq!(prefix_of(&part), None);
        assert_eq!(bounds(&RowRange::all()), (Bytes::from_static(b"r"), Bytes::from_static(b"s")));
        assert_eq!(key_of(&row_key(b"")), Some(Bytes::new()));
        assert_eq!(key_of(&name_key("mark")), None);
    }
}
