//! The catalog of a real PostgreSQL: its types, functions and operators, in the form of the planner's files.

use crate::postgres::Postgres;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each file and its query. The file holds a line with the column names and then the query's rows.
const QUERIES: [(&str, &str); 11] = [
    (
        "types",
        "select oid, typname, typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typsubscript::oid, typelem, \
         typarray, typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, typmodin::oid, typmodout::oid, \
         typanalyze::oid, typalign, typstorage, typcollation from pg_type where typnamespace = 11 and typrelid = 0 and not \
         exists (select from pg_type e where e.oid = pg_type.typelem and e.typrelid <> 0) order by oid",
    ),
    (
        "functions",
        "select oid, proname, prolang, procost, prorows, provariadic, prosupport::oid, prokind, proleakproof, proisstrict, \
         proretset, provolatile, proparallel, pronargdefaults, prorettype, proargtypes, proallargtypes, proargmodes, \
         proargnames, pg_get_expr(proargdefaults, 0) as proargdefaults, nullif(prosrc, proname) as prosrc from pg_proc where \
         pronamespace = 11 order by oid",
    ),
    (
        "aggregates",
        "select aggfnoid::oid, aggkind, aggnumdirectargs, aggtransfn::oid, aggfinalfn::oid, aggcombinefn::oid, \
         aggserialfn::oid, aggdeserialfn::oid, aggmtransfn::oid, aggminvtransfn::oid, aggmfinalfn::oid, aggfinalextra, \
         aggmfinalextra, aggfinalmodify, aggmfinalmodify, aggsortop, aggtranstype, aggtransspace, aggmtranstype, \
         aggmtransspace, agginitval, aggminitval from pg_aggregate order by 1",
    ),
    (
        "operators",
        "select oid, oprname, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult, oprcom, oprnegate, \
         oprcode::oid, oprrest::oid, oprjoin::oid from pg_operator where oprnamespace = 11 order by oid",
    ),
    (
        "operator_classes",
        "select oid, opcmethod, opcname, opcfamily, opcintype, opcdefault, opckeytype from pg_opclass where opcmethod = 403 \
         order by oid",
    ),
    ("operator_families", "select oid, opfmethod, opfname from pg_opfamily where opfmethod = 403 order by oid"),
    (
        "family_operators",
        "select oid, amopfamily, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr, amopmethod, amopsortfamily \
         from pg_amop where amopmethod = 403 order by oid",
    ),
    (
        "family_functions",
        "select oid, amprocfamily, amproclefttype, amprocrighttype, amprocnum, amproc::oid from pg_amproc where amprocfamily \
         in (select oid from pg_opfamily where opfmethod = 403) order by oid",
    ),
    ("casts", "select oid, castsource, casttarget, castfunc, castcontext, castmethod from pg_cast order by oid"),
    (
        "relations",
        "select n.nspname || '.' || c.relname as name, c.oid, c.relkind, string_agg(a.attname || ' ' || case when t.typelem <> 0 \
         and t.typname like '\\_%' then t.typelem::regtype || '[]' when t.typtype = 'd' then (select b.typname from pg_type b \
         where b.oid = t.typbasetype) else t.typname end, ', ' order by a.attnum) as columns from pg_class c join pg_namespace n \
         on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 join pg_type t on t.oid = \
         a.atttypid where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v') group by 1, 2, 3 order \
         by (n.nspname || '.' || c.relname) collate \"C\"",
    ),
    (
        "keywords",
        "select word, catcode, barelabel, catdesc, baredesc from pg_get_keywords() order by word collate \"C\"",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../planner/builtin/src/facts")
}

fn ask(postgres: &Postgres, query: &str) -> String {
    let output = Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &postgres.port().to_string()])
        .args(["-U", "postgres", "-c", &format!("copy ({query}) to stdout with (header)"), "template1"])
        .output()
        .expect("psql runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The path of each file, its contents, and PostgreSQL's current answer.
pub fn compare() -> Vec<(PathBuf, String, String)> {
    let postgres = Postgres::start();
    let one = |(name, query): (&str, &str)| {
        let path = folder().join(format!("{name}.tsv"));
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        (path, written, ask(&postgres, query))
    };
    QUERIES.into_iter().map(one).collect()
}
