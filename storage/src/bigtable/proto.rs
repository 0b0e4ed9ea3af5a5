//! The contract's words in those of google.bigtable.v2: keys, filters, predicates, mutations. Pure.
//!
//! A row of ours lies at `r` and its key, so that the empty key is one and names have room beside them; a
//! named value lies at `m` and its name, in the data family at timestamp 0. A family has one column, whose
//! qualifier is empty. A timestamp is microseconds of ours, thousandths of microseconds there: Bigtable's
//! cells have the granularity of milliseconds, and count in microseconds.

use super::limits::MAX_FILTER_BYTES;
use crate::contract::{ClassRange, Condition, Family, Mutation, ReadFilter, RowRange, TimestampRange, prefix_end};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::{BufMut, Bytes, BytesMut};
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use prost::Message;

/// First byte of the keys of rows.
const ROW: u8 = b'r';
/// First byte of the keys of named values.
const NAME: u8 = b'm';
/// Bigtable's microseconds for one of ours.
const GRANULARITY: u64 = 1000;

fn prefixed(prefix: u8, rest: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(1 + rest.len());
    key.put_u8(prefix);
    key.put_slice(rest);
    key.freeze()
}

/// Where a row lies.
pub fn row_key(key: &[u8]) -> Bytes {
    prefixed(ROW, key)
}

/// Where a named value lies.
pub fn name_key(name: &str) -> Bytes {
    prefixed(NAME, name.as_bytes())
}

/// The key of ours at a row key of Bigtable's; `None` when it is not a row of ours.
pub fn key_of(row_key: &Bytes) -> Option<Bytes> {
    (row_key.first() == Some(&ROW)).then(|| row_key.slice(1..))
}

/// First key inside, first key behind.
pub fn bounds(range: &RowRange) -> (Bytes, Bytes) {
    let end = range.end.as_ref().map_or_else(|| Bytes::from_static(&[ROW + 1]), |end| row_key(end));
    (row_key(&range.start), end)
}

/// The prefix whose keys a range holds, if there is one.
pub fn prefix_of(range: &RowRange) -> Option<Bytes> {
    (prefix_end(&range.start) == range.end).then(|| row_key(&range.start))
}

/// The family's name.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::Data => "d",
        Family::Lock => "l",
        Family::Write => "w",
        Family::Rollback => "r",
    }
}

/// The family with this name.
pub fn family_of(name: &str) -> Option<Family> {
    Family::ALL.into_iter().find(|family| family_name(*family) == name)
}

/// Bigtable's microseconds.
fn micros(timestamp: Timestamp) -> i64 {
    i64::try_from(timestamp.0.saturating_mul(GRANULARITY)).unwrap_or(i64::MAX)
}

/// The timestamp of a cell.
pub fn timestamp_of(micros: i64) -> Timestamp {
    Timestamp(u64::try_from(micros).unwrap_or(0) / GRANULARITY)
}

/// `None` when nothing lies inside. An end of zero has no end.
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

/// All of them, one after the other. A chain has at least two links.
fn chain(mut filters: Vec<bt::RowFilter>) -> bt::RowFilter {
    match filters.len() {
        0 => filter(bt::row_filter::Filter::PassAllFilter(true)),
        1 => filters.swap_remove(0),
        _ => filter(bt::row_filter::Filter::Chain(bt::row_filter::Chain { filters })),
    }
}

/// What any of them lets through. `None`: there is none.
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

/// What to return of rows; `None` when nothing can come back.
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

/// The filter that lets one bare cell of each row through: for keys alone.
pub fn keys_only() -> bt::RowFilter {
    chain(vec![
        filter(bt::row_filter::Filter::CellsPerRowLimitFilter(1)),
        filter(bt::row_filter::Filter::StripValueTransformer(true)),
    ])
}

/// The newest cell of a named value.
pub fn named_value() -> bt::RowFilter {
    chain(vec![in_family(Family::Data), filter(bt::row_filter::Filter::CellsPerColumnLimitFilter(1))])
}

fn in_class(class: ClassRange) -> Option<bt::RowFilter> {
    use bt::value_range::{EndValue, StartValue};
    if class == ClassRange::ANY {
        return None;
    }
    let bound = |class: u8| Bytes::copy_from_slice(&[class]);
    // Class 0 begins with the empty value.
    let start_value = (class.from > 0).then(|| StartValue::StartValueClosed(bound(class.from)));
    let end_value = class.to.checked_add(1).map(|end| EndValue::EndValueOpen(bound(end)));
    Some(filter(bt::row_filter::Filter::ValueRangeFilter(bt::ValueRange { start_value, end_value })))
}

/// A predicate and what it means that it finds something.
#[derive(Debug, PartialEq)]
pub enum Predicate {
    /// No condition can fail.
    Always,
    /// The conditions hold when this finds a cell.
    WhenFound(bt::RowFilter),
    /// The conditions hold when this finds none.
    UnlessFound(bt::RowFilter),
}

/// The conditions as one filter. Never the `Condition` filter: Bigtable documents it as not atomic.
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
                        // Nothing lies before the first timestamp.
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

/// Mutations of a row. Those that cannot change anything are left out.
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
