//! Databases of one server with different LC_CTYPE: `C` and `C.UTF-8`.

use super::*;

async fn connect_to(database: &Arc<Database>, name: &str) -> Client {
    let startup = Startup {
        user: "postgres".into(),
        database: name.into(),
        options: Vec::new(),
        backend_pid: 2,
        link: crate::session::Link::default(),
        cancel: CancelToken::new(),
    };
    Client { session: Session::start(database.clone(), startup).await.unwrap() }
}

/// Sessions in two databases of one server: the first classifies letters by Unicode, the second by ASCII.
async fn both() -> (Client, Client) {
    let database = database().await;
    let mut unicode = connect(&database).await;
    unicode.run("CREATE DATABASE letters TEMPLATE template0 LC_CTYPE 'C'").await;
    let ascii = connect_to(&database, "letters").await;
    (unicode, ascii)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_text_means_what_its_database_says() {
    let (mut unicode, mut ascii) = both().await;
    // Checked against PostgreSQL 15.
    let cases = [
        ("SHOW lc_ctype", "C.UTF-8", "C"),
        ("SELECT upper('aé')", "AÉ", "Aé"),
        ("SELECT lower('AÉ')", "aé", "aÉ"),
        ("SELECT initcap('éCOLE')", "École", "éCole"),
        ("SELECT 'É' ILIKE 'é'", "t", "f"),
        ("SELECT 'É' NOT ILIKE 'é'", "f", "t"),
        ("SELECT 'É' ILIKE 'é' || '%'", "t", "f"),
        ("SELECT 'É' ILIKE ANY (ARRAY['é'])", "t", "f"),
        ("SELECT 'É' ~* ANY (ARRAY['é'])", "t", "f"),
        ("SELECT w ILIKE 'É%' FROM (VALUES ('é')) AS v (w)", "t", "f"),
        ("SELECT 'É' ~* 'é'", "t", "f"),
        ("SELECT 'É' ~ '(?i)é'", "t", "f"),
        ("SELECT 'é' ~ '\\w'", "t", "f"),
        ("SELECT 'é' ~ '[^[:alpha:]]'", "f", "t"),
        ("SELECT 'éb' ~ '\\mb'", "f", "t"),
        ("SELECT 'éÉ' ~* '(é)\\1'", "t", "f"),
        ("SELECT 'Éa' ~* '(?<=é)A'", "t", "f"),
        ("SELECT 'É' SIMILAR TO '[[:alpha:]]'", "t", "f"),
        ("SELECT substring('aéb' from '\\w+')", "aéb", "a"),
        ("SELECT regexp_replace('É', 'é', 'x', 'i')", "x", "É"),
        ("SELECT regexp_count('éÉ', 'é', 1, 'i')", "2", "1"),
        ("SELECT (regexp_match('É', 'é|$', 'i'))[1]", "É", ""),
        ("SELECT (regexp_split_to_array('aéb', '\\W'))[1]", "aéb", "a"),
        ("SELECT jsonb_path_exists('\"É\"', '$ ? (@ like_regex \"é\" flag \"i\")')", "t", "f"),
    ];
    // The second round finds the plans of the first.
    for _ in 0..2 {
        for (sql, of_unicode, of_ascii) in cases {
            assert_eq!(unicode.value(sql).await, of_unicode, "{sql}");
            assert_eq!(ascii.value(sql).await, of_ascii, "{sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_agrees_with_what_is_asked() {
    let (mut unicode, mut ascii) = both().await;
    for c in [&mut unicode, &mut ascii] {
        c.run("CREATE TABLE t (a text CHECK (a !~* 'è'), low text GENERATED ALWAYS AS (lower(a)) STORED)").await;
        c.run("CREATE UNIQUE INDEX ON t (lower(a))").await;
        c.run("INSERT INTO t VALUES ('Éa')").await;
        c.run("PREPARE found (text) AS SELECT low FROM t WHERE a ILIKE $1").await;
    }
    assert_eq!(unicode.state("INSERT INTO t VALUES ('éa')").await, "23505");
    assert_eq!(unicode.state("INSERT INTO t VALUES ('È')").await, "23514");
    assert_eq!(unicode.rows("SELECT low FROM t WHERE lower(a) = 'éa'").await, ["éa"]);
    assert_eq!(unicode.rows("EXECUTE found ('éA')").await, ["éa"]);
    ascii.run("INSERT INTO t VALUES ('éa'), ('È')").await;
    assert_eq!(ascii.state("INSERT INTO t VALUES ('éA')").await, "23505");
    assert_eq!(ascii.rows("SELECT a, low FROM t WHERE lower(a) = 'éa'").await, ["éa|éa"]);
    assert_eq!(ascii.rows("SELECT a, low FROM t WHERE lower(a) = 'Éa'").await, ["Éa|Éa"]);
    assert_eq!(ascii.rows("EXECUTE found ('éA')").await, ["éa"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_has_the_letters_of_its_template() {
    let (mut c, ascii) = both().await;
    drop(ascii);
    let names = "SELECT datname, datcollate, datctype FROM pg_database WHERE datname LIKE 'l%' ORDER BY 1";
    assert_eq!(c.state("CREATE DATABASE l2 LC_CTYPE 'C'").await, "22023");
    assert_eq!(c.state("CREATE DATABASE l2 TEMPLATE letters LC_CTYPE 'C.UTF-8'").await, "22023");
    c.run("CREATE DATABASE l2 TEMPLATE letters").await;
    c.run("CREATE DATABASE l3 TEMPLATE template0 LOCALE 'POSIX'").await;
    c.run("CREATE DATABASE l4 TEMPLATE template0 LC_CTYPE 'C.utf8'").await;
    assert_eq!(c.rows(names).await, ["l2|C.UTF-8|C", "l3|C|C", "l4|C.UTF-8|C.utf8", "letters|C.UTF-8|C"]);
    assert_eq!(c.state("CREATE DATABASE l5 TEMPLATE template0 LC_CTYPE 'de_DE.UTF-8'").await, "0A000");
}
