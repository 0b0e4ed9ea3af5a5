//! The planner's files of PostgreSQL's types, functions and operators match a real PostgreSQL 15.
//! `PERCOSQL_FACTS=write` rewrites the files.

use percosql_tests::facts;

#[test]
fn the_catalog_is_postgresqls() {
    let write = std::env::var("PERCOSQL_FACTS").is_ok_and(|wish| wish == "write");
    for (path, written, found) in facts::compare() {
        if write {
            std::fs::write(&path, &found).expect("the file is written");
        } else {
            let different = written.lines().zip(found.lines()).find(|(one, other)| one != other);
            assert!(
                written == found,
                "{} is not what PostgreSQL says (PERCOSQL_FACTS=write writes it): {different:?}",
                path.display()
            );
        }
    }
}
