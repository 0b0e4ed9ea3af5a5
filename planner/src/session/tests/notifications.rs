//! LISTEN and NOTIFY.

use super::*;

fn heard(client: &Client) -> Vec<(String, String)> {
    let told = client.session.inbox().take();
    told.into_iter().map(|told| (told.channel, told.payload)).collect()
}

fn said(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(channel, payload)| (channel.to_string(), payload.to_string())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_transaction_says_is_heard_when_it_commits() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("LISTEN news").await;
    a.run("LISTEN \"Other\"").await;
    b.run("NOTIFY news").await;
    assert_eq!(heard(&a), said(&[("news", "")]));
    b.run("BEGIN").await;
    b.run("NOTIFY news, 'one'").await;
    b.run("SAVEPOINT s").await;
    b.run("NOTIFY news, 'taken back'").await;
    b.run("ROLLBACK TO s").await;
    b.run("SELECT pg_notify('Other', 'two'), pg_notify('Other', 'two')").await;
    b.run("NOTIFY news, 'one'").await;
    assert_eq!(heard(&a), said(&[]));
    b.run("COMMIT").await;
    assert_eq!(heard(&a), said(&[("news", "one"), ("Other", "two")]));
    assert_eq!(heard(&b), said(&[]));
    b.run("BEGIN").await;
    b.run("NOTIFY news, 'never'").await;
    b.run("ROLLBACK").await;
    a.run("UNLISTEN news").await;
    b.run("NOTIFY news, 'too late'").await;
    assert_eq!(heard(&a), said(&[]));
    a.run("NOTIFY \"Other\", 'own'").await;
    assert_eq!(heard(&a), said(&[("Other", "own")]));
    a.run("UNLISTEN *").await;
    a.run("NOTIFY \"Other\", 'own'").await;
    assert_eq!(heard(&a), said(&[]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_says_nothing() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("LISTEN news").await;
    assert!(b.try_run_with("SELECT pg_notify('news', 'x'), 1 / 0", "").await.is_err());
    b.run("SELECT 1").await;
    assert_eq!(heard(&a), said(&[]));
    let error = b.try_run_with("SELECT pg_notify('', 'x')", "").await.unwrap_err();
    assert_eq!(error.state(), "22023");
    let long = format!("NOTIFY news, '{}'", "x".repeat(8000));
    assert_eq!(b.try_run_with(&long, "").await.unwrap_err().state(), "22023");
}
