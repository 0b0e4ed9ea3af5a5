//! Compares the committer with a plain model. However requests are grouped, and however little it remembers, it must
//! answer as if they had run one by one.

use super::*;
use crate::bulk::{CellBlock, Medium};
use crate::committer::key_reservations::Claim;
use crate::contract::{AtomicCommit, ClassRange, CommitCell, CommitCondition, Row};
use crate::testing::contract::bytes;
use crate::testing::{CountingTimestamps, MemoryOptions, MemoryStore};
use futures::executor::block_on;
use futures::future::{join, join_all};
use proptest::prelude::*;

fn families() -> impl Strategy<Value = Family> {
    prop::sample::select(Family::ALL.to_vec())
}

fn keys() -> impl Strategy<Value = Bytes> {
    prop::sample::select(vec![bytes("a"), bytes("b"), bytes("c")])
}

/// Few timestamps, so that requests conflict often. The source hands out timestamps from 6 on.
fn timestamps() -> impl Strategy<Value = Timestamp> {
    (0..12u64).prop_map(Timestamp)
}

fn ranges() -> impl Strategy<Value = TimestampRange> {
    (timestamps(), timestamps()).prop_map(|(a, b)| TimestampRange { from: a.min(b), to: a.max(b) })
}

fn classes() -> impl Strategy<Value = ClassRange> {
    prop_oneof![Just(ClassRange::ANY), Just(ClassRange { from: 2, to: 9 }), Just(ClassRange { from: 0, to: 1 })]
}

fn values() -> impl Strategy<Value = Bytes> {
    (0..4u8).prop_map(|class| Bytes::copy_from_slice(&[class]))
}

fn conditions() -> impl Strategy<Value = Condition> {
    prop_oneof![
        (families(), ranges(), classes(), prop::option::of(timestamps()))
            .prop_map(|(family, range, class, except)| Condition::NoCell { family, range, class, except }),
        (families(), timestamps(), values()).prop_map(|(family, timestamp, value)| Condition::CellEquals {
            family,
            timestamp,
            value
        }),
    ]
}

fn mutations() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (families(), timestamps(), values()).prop_map(|(family, timestamp, value)| Mutation::Set {
            family,
            timestamp,
            value
        }),
        (families(), ranges()).prop_map(|(family, range)| Mutation::Delete { family, range }),
    ]
}

fn commit_conditions() -> impl Strategy<Value = CommitCondition> {
    (keys(), families(), timestamps(), classes()).prop_map(|(key, family, none_after, class)| CommitCondition {
        key,
        family,
        none_after,
        class,
    })
}

fn cells(publishes: bool) -> impl Strategy<Value = CommitCell> {
    (keys(), families(), timestamps(), any::<bool>(), prop::option::of(values())).prop_map(
        move |(key, family, timestamp, at_commit, value)| {
            let stamp = match at_commit && publishes && value.is_some() {
                true => Stamp::AtCommit,
                false => Stamp::At(timestamp),
            };
            CommitCell { key, family, stamp, value }
        },
    )
}

fn commits() -> impl Strategy<Value = Request> {
    (any::<bool>(), any::<bool>()).prop_flat_map(|(publishes, durable)| {
        (
            prop::collection::vec(commit_conditions(), 0..2),
            prop::collection::vec((keys(), conditions()), 0..2),
            prop::collection::vec(cells(publishes), 0..3),
        )
            .prop_map(move |(conditions, row_conditions, cells)| {
                let reads = None;
                Request::Commit(CommitBatch {
                    conditions,
                    row_conditions,
                    reads,
                    cells,
                    publishes,
                    durable,
                    private: false,
                })
            })
    })
}

pub fn requests() -> impl Strategy<Value = Request> {
    let rows = (
        prop::collection::vec(conditions(), 0..2),
        prop::collection::vec((keys(), prop::collection::vec(mutations(), 1..3)), 1..3),
    );
    prop_oneof![
        6 => commits(),
        4 => rows.prop_map(|(conditions, rows)| {
            let rows = rows.into_iter().map(|(key, mutations)| RowMutation { key, mutations }).collect();
            Request::Rows { conditions, rows }
        }),
        1 => keys().prop_map(|key| Request::RemoveRange(RowRange::prefix(key))),
    ]
}

/// Commits of prepared cells for a timestamp that may have passed.
fn prepared() -> impl Strategy<Value = Request> {
    let conditions = prop::collection::vec(commit_conditions(), 0..2);
    (conditions, prop::collection::btree_map(keys(), values(), 1..3), 6..40u64).prop_map(|(conditions, cells, at)| {
        let mut block = CellBlock::new();
        for (key, value) in &cells {
            assert!(block.push(key, |out| out.extend_from_slice(value)));
        }
        let mut ends = cells.keys();
        let first = ends.next().unwrap().clone();
        let cells = PreparedCells {
            family: Family::Write,
            timestamp: Timestamp(at),
            ends: (first.clone(), ends.next().cloned().unwrap_or(first)),
            medium: Arc::new(Medium::Block(block)),
        };
        let batch = CommitBatch { conditions, publishes: true, durable: true, ..CommitBatch::default() };
        let claim = Claim::default();
        Request::Prepared(PreparedCommit { claim, batch, timestamp: Timestamp(at), cells: vec![cells] })
    })
}

/// Runs the requests in groups of these sizes.
fn run(requests: &[Request], groups: &[usize], recent_bytes: usize) -> (Vec<Answer>, Vec<Row>, Timestamp) {
    let options = MemoryOptions { stepped: true, recent_bytes, ..MemoryOptions::default() };
    let store = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(5))), options);
    let asked = join_all(requests.iter().map(|request| store.request(request.clone())));
    let steps = async {
        let mut sizes = groups.iter().cycle();
        while store.step(*sizes.next().unwrap_or(&1)) > 0 {}
    };
    let (answers, ()) = block_on(join(asked, steps));
    (answers, store.dump(), store.published())
}

/// Answers each request one by one, by looking at the whole state.
#[derive(Default)]
struct Model {
    cells: std::collections::BTreeMap<(Bytes, Family, Timestamp), Bytes>,
    taken: u64,
    visible: Timestamp,
}

impl Model {
    fn none(&self, key: &Bytes, family: Family, range: TimestampRange, class: ClassRange) -> Vec<Timestamp> {
        let inside = self.cells.iter().filter(|((of, in_family, timestamp), value)| {
            of == key && *in_family == family && range.contains(*timestamp) && class.contains(value)
        });
        inside.map(|((_, _, timestamp), _)| *timestamp).collect()
    }

    fn holds(&self, key: &Bytes, condition: &Condition) -> bool {
        match condition {
            Condition::NoCell { family, range, class, except } => {
                self.none(key, *family, *range, *class).iter().all(|found| Some(*found) == *except)
            }
            Condition::CellEquals { family, timestamp, value } => {
                self.cells.get(&(key.clone(), *family, *timestamp)) == Some(value)
            }
        }
    }

    /// The first of these conditions that fails.
    fn newer(&self, conditions: &[CommitCondition], given: &Answer) -> Option<FailedCondition> {
        for (index, c) in conditions.iter().enumerate() {
            let found = self.none(&c.key, c.family, TimestampRange::after(c.none_after), c.class);
            let chosen = match given {
                Ok(Err(FailedCondition::Newer { found: chosen, .. })) if found.contains(chosen) => Some(*chosen),
                _ => found.first().copied(),
            };
            if let Some(found) = chosen {
                return Some(FailedCondition::Newer { index, found });
            }
        }
        None
    }

    /// Runs a request. Of several newer cells the committer may report any, so the model takes
    /// that choice from `given`.
    fn run(&mut self, request: &Request, given: &Answer) -> Answer {
        match request {
            Request::Commit(batch) => {
                if let Some(failed) = self.newer(&batch.conditions, given) {
                    return Ok(Err(failed));
                }
                if let Some(index) = batch.row_conditions.iter().position(|(key, c)| !self.holds(key, c)) {
                    return Ok(Err(FailedCondition::Row { index }));
                }
                if batch.publishes {
                    self.taken += 1;
                    self.visible = Timestamp(5 + self.taken);
                }
                for cell in &batch.cells {
                    let timestamp = match cell.stamp {
                        Stamp::AtCommit => self.visible,
                        Stamp::At(timestamp) => timestamp,
                    };
                    let key = (cell.key.clone(), cell.family, timestamp);
                    match &cell.value {
                        Some(value) => self.cells.insert(key, value.clone()),
                        None => self.cells.remove(&key),
                    };
                }
            }
            Request::Rows { conditions, rows } => {
                if let Some(index) = conditions.iter().position(|c| !self.holds(&rows[0].key, c)) {
                    return Ok(Err(FailedCondition::Row { index }));
                }
                for (key, mutation) in rows.iter().flat_map(|row| row.mutations.iter().map(|m| (&row.key, m))) {
                    match mutation {
                        Mutation::Set { family, timestamp, value } => {
                            self.cells.insert((key.clone(), *family, *timestamp), value.clone());
                        }
                        Mutation::Delete { family, range } => self.cells.retain(|(of, in_family, timestamp), _| {
                            !(of == key && in_family == family && range.contains(*timestamp))
                        }),
                    }
                }
            }
            Request::RemoveRange(range) => self.cells.retain(|(key, _, _), _| !range.contains(key)),
            Request::Prepared(commit) => {
                if let Some(failed) = self.newer(&commit.batch.conditions, given) {
                    return Ok(Err(failed));
                }
                if commit.timestamp.0 <= 5 + self.taken {
                    return Ok(Err(FailedCondition::Passed));
                }
                self.taken = commit.timestamp.0 - 5;
                self.visible = commit.timestamp;
                for PreparedCells { family, timestamp, medium, .. } in &commit.cells {
                    let Medium::Block(block) = &**medium else { panic!("in memory") };
                    for (key, value) in block.iter() {
                        let (key, value) = (Bytes::copy_from_slice(key), value.to_bytes());
                        self.cells.insert((key, *family, *timestamp), value);
                    }
                }
            }
            Request::Claim(_) => panic!("nothing is claimed"),
        }
        Ok(Ok(self.visible))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn grouping_and_forgetting_change_nothing(
        requests in prop::collection::vec(prop_oneof![9 => requests(), 1 => prepared()], 1..24),
        groups in prop::collection::vec(1..8usize, 1..6),
        recent_bytes in prop_oneof![Just(0), Just(400), Just(1 << 20)],
    ) {
        let (answers, rows, visible) = run(&requests, &groups, recent_bytes);
        let mut model = Model::default();
        for (number, (request, answer)) in requests.iter().zip(&answers).enumerate() {
            prop_assert_eq!(&model.run(request, answer), answer, "request {}: {:?}", number, request);
        }
        let found: Vec<_> = rows.into_iter().flat_map(|row| {
            let key = row.key;
            row.cells.into_iter().map(move |cell| ((key.clone(), cell.family, cell.timestamp), cell.value))
        }).collect();
        let found: std::collections::BTreeMap<_, _> = found.into_iter().collect();
        prop_assert_eq!(found, model.cells);
        prop_assert_eq!(visible, model.visible);
    }
}
