//! The memory engine honours the contract, and fails when it is told to.

use super::*;
use crate::testing::{CountingTimestamps, contract};
use futures::executor::block_on;
use futures::future::join_all;

fn store(options: MemoryOptions) -> Arc<MemoryStore> {
    MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1000))), options)
}

#[test]
fn honours_the_contract() {
    let two_phase = MemoryOptions { atomic: false, reverse: false, ..MemoryOptions::default() };
    let forgetful = MemoryOptions { recent_bytes: 0, ..MemoryOptions::default() };
    for options in [MemoryOptions::default(), two_phase, forgetful] {
        contract::check_all(&|| store(options));
    }
}

#[test]
fn a_step_is_a_group() {
    let store = store(MemoryOptions { stepped: true, ..MemoryOptions::default() });
    let start = store.published();
    let batch = || contract::batch(&["k"], start, "v");
    let commits = join_all((0..3).map(|_| store.commit_atomic(batch())));
    let stepper = async {
        assert_eq!(store.waiting(), 3);
        assert_eq!(store.step(2), 2);
        let visible = store.published();
        assert_eq!(visible, Timestamp(1001));
        assert_eq!(store.step(2), 1);
    };
    let (answers, ()) = block_on(futures::future::join(commits, stepper));
    let found = Timestamp(1001);
    assert_eq!(answers[0], Ok(Ok(found)));
    assert_eq!(answers[1], Ok(Err(FailedCondition::Newer { index: 0, found })));
    assert_eq!(answers[2], answers[1]);
}

#[test]
fn a_failed_write_stops_all_others() {
    for applied in [false, true] {
        let store = store(MemoryOptions::default());
        store.fail_next_write(StoreError::Io("broken".to_owned()), applied);
        let commit = || block_on(store.commit_atomic(contract::batch(&["k"], store.published(), "v")));
        assert!(matches!(commit(), Err(StoreError::Undetermined(_))));
        assert!(matches!(commit(), Err(StoreError::ReadOnly(_))));
        assert_eq!(store.dump().len(), usize::from(applied));
        assert_eq!(store.published(), Timestamp::ZERO);
    }
}

#[test]
fn a_full_store_takes_removals_and_goes_on_later() {
    let store = store(MemoryOptions::default());
    let commit = || block_on(store.commit_atomic(contract::batch(&["k"], store.published(), "v")));
    commit().unwrap().unwrap();
    store.set_full(true);
    assert!(matches!(commit(), Err(StoreError::DiskFull(_))));
    block_on(store.delete_range(RowRange::all())).unwrap();
    assert!(store.dump().is_empty());
    store.set_full(false);
    commit().unwrap().unwrap();
}
