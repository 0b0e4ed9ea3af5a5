//! `pg_proc`: the input and output functions of the types, which drivers look for, and the
//! scalar functions of the registry and the aggregates. Window functions have no rows yet.

use super::definition::{Definition, Fill, Rows, value};
use super::probe;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::functions::registry::{self, ScalarFunction};
use crate::functions::{Param, ResultType, Stability};
use crate::types::{Datum, Oid};
use std::collections::BTreeMap;

/// `pg_catalog.pg_proc`.
pub(super) const VIEW: Definition = Definition {
    oid: 1255,
    name: "pg_catalog.pg_proc",
    columns: "oid oid=0, proname name=, pronamespace oid=0, proowner oid=0, prolang oid=0, procost float4=0, prorows \
              float4=0, provariadic oid=0, prosupport regproc=0, prokind char=, prosecdef bool=f, proleakproof bool=f, \
              proisstrict bool=f, proretset bool=f, provolatile char=, proparallel char=, pronargs int2=0, \
              pronargdefaults int2=0, prorettype oid=0, proargtypes oidvector, proallargtypes oid[], proargmodes char[], \
              proargnames text[], proargdefaults text, protrftypes oid[], prosrc text=, probin text, prosqlbody text, \
              proconfig text[], proacl text[]",
    fill: Fill::Now(rows),
};

/// OID, name, result, number of arguments, volatility and argument types.
const FUNCTIONS: &str = "\
31|byteaout|2275|1|i|17\n\
33|charout|2275|1|i|18\n\
34|namein|19|1|i|2275\n\
35|nameout|2275|1|i|19\n\
38|int2in|21|1|i|2275\n\
39|int2out|2275|1|i|21\n\
42|int4in|23|1|i|2275\n\
43|int4out|2275|1|i|23\n\
44|regprocin|24|1|s|2275\n\
45|regprocout|2275|1|s|24\n\
46|textin|25|1|i|2275\n\
47|textout|2275|1|i|25\n\
109|unknownin|705|1|i|2275\n\
110|unknownout|2275|1|i|705\n\
200|float4in|700|1|i|2275\n\
201|float4out|2275|1|i|700\n\
214|float8in|701|1|i|2275\n\
215|float8out|2275|1|i|701\n\
460|int8in|20|1|i|2275\n\
461|int8out|2275|1|i|20\n\
750|array_in|2277|3|s|2275 26 23\n\
751|array_out|2275|1|s|2277\n\
1044|bpcharin|1042|3|i|2275 26 23\n\
1045|bpcharout|2275|1|i|1042\n\
1046|varcharin|1043|3|i|2275 26 23\n\
1047|varcharout|2275|1|i|1043\n\
1084|date_in|1082|1|s|2275\n\
1085|date_out|2275|1|s|1082\n\
1150|timestamptz_in|1184|3|s|2275 26 23\n\
1151|timestamptz_out|2275|1|s|1184\n\
1242|boolin|16|1|i|2275\n\
1243|boolout|2275|1|i|16\n\
1244|byteain|17|1|i|2275\n\
1245|charin|18|1|i|2275\n\
1312|timestamp_in|1114|3|s|2275 26 23\n\
1313|timestamp_out|2275|1|s|1114\n\
1701|numeric_in|1700|3|i|2275 26 23\n\
1702|numeric_out|2275|1|i|1700\n\
1798|oidin|26|1|i|2275\n\
1799|oidout|2275|1|i|26\n\
2218|regclassin|2205|1|s|2275\n\
2219|regclassout|2275|1|s|2205\n\
2220|regtypein|2206|1|s|2275\n\
2221|regtypeout|2275|1|s|2206\n\
2298|void_in|2278|1|i|2275\n\
2299|void_out|2275|1|i|2278\n\
2400|array_recv|2277|3|s|2281 26 23\n\
2401|array_send|17|1|s|2277\n\
2404|int2recv|21|1|i|2281\n\
2405|int2send|17|1|i|21\n\
2406|int4recv|23|1|i|2281\n\
2407|int4send|17|1|i|23\n\
2408|int8recv|20|1|i|2281\n\
2409|int8send|17|1|i|20\n\
2412|bytearecv|17|1|i|2281\n\
2413|byteasend|17|1|i|17\n\
2414|textrecv|25|1|s|2281\n\
2415|textsend|17|1|s|25\n\
2416|unknownrecv|705|1|i|2281\n\
2417|unknownsend|17|1|i|705\n\
2418|oidrecv|26|1|i|2281\n\
2419|oidsend|17|1|i|26\n\
2422|namerecv|19|1|s|2281\n\
2423|namesend|17|1|s|19\n\
2424|float4recv|700|1|i|2281\n\
2425|float4send|17|1|i|700\n\
2426|float8recv|701|1|i|2281\n\
2427|float8send|17|1|i|701\n\
2430|bpcharrecv|1042|3|s|2281 26 23\n\
2431|bpcharsend|17|1|s|1042\n\
2432|varcharrecv|1043|3|s|2281 26 23\n\
2433|varcharsend|17|1|s|1043\n\
2434|charrecv|18|1|i|2281\n\
2435|charsend|17|1|i|18\n\
2436|boolrecv|16|1|i|2281\n\
2437|boolsend|17|1|i|16\n\
2444|regprocrecv|24|1|i|2281\n\
2445|regprocsend|17|1|i|24\n\
2452|regclassrecv|2205|1|i|2281\n\
2453|regclasssend|17|1|i|2205\n\
2454|regtyperecv|2206|1|i|2281\n\
2455|regtypesend|17|1|i|2206\n\
2460|numeric_recv|1700|3|i|2281 26 23\n\
2461|numeric_send|17|1|i|1700\n\
2468|date_recv|1082|1|i|2281\n\
2469|date_send|17|1|i|1082\n\
2474|timestamp_recv|1114|3|i|2281 26 23\n\
2475|timestamp_send|17|1|i|1114\n\
2476|timestamptz_recv|1184|3|i|2281 26 23\n\
2477|timestamptz_send|17|1|i|1184\n\
2952|uuid_in|2950|1|i|2275\n\
2953|uuid_out|2275|1|i|2950\n\
2961|uuid_recv|2950|1|i|2281\n\
2962|uuid_send|17|1|i|2950\n\
3120|void_recv|2278|1|i|2281\n\
3121|void_send|17|1|i|2278\n\
4084|regnamespacein|4089|1|s|2275\n\
4085|regnamespaceout|2275|1|s|4089\n\
4087|regnamespacerecv|4089|1|i|2281\n\
4088|regnamespacesend|17|1|i|4089\n\
6179|array_subscript_handler|2281|1|i|2281\n\
6180|raw_array_subscript_handler|2281|1|i|2281\n\
";

/// OIDs of functions that PostgreSQL has under others begin here; the rest is made of the name and
/// the types of the arguments.
const FIRST_OID: Oid = 0x5000_0000;

fn parameter_oid(parameter: Param) -> Oid {
    match parameter {
        Param::Is(ty) => ty.oid(),
        Param::Any => 2276,
        Param::AnyArray => 2277,
    }
}

/// The functions of the registry, by name and arguments, each once.
fn registered() -> BTreeMap<(&'static str, Vec<Oid>), &'static ScalarFunction> {
    registry::all()
        .map(|function| {
            let arguments = function.arguments.iter().copied().map(parameter_oid).collect();
            ((function.name, arguments), function)
        })
        .collect()
}

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for line in FUNCTIONS.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let [oid, name, result, count, volatility, arguments] = fields.as_slice() else { continue };
        let number = |text: &str| text.parse::<Oid>().unwrap_or(0);
        rows.add([
            ("oid", value::oid(number(oid))),
            ("proname", value::text(name)),
            ("pronamespace", value::oid(11)),
            ("proowner", value::oid(10)),
            ("prolang", value::oid(12)),
            ("procost", Datum::from(1.0_f32)),
            ("prokind", value::text("f")),
            ("proisstrict", Datum::from(true)),
            ("provolatile", value::text(volatility)),
            ("proparallel", value::text("s")),
            ("pronargs", Datum::from(count.parse::<i16>().unwrap_or(0))),
            ("prorettype", value::oid(number(result))),
            ("proargtypes", value::oids(arguments.split_whitespace().map(number))),
            ("prosrc", value::text(name)),
        ])?;
    }
    for ((name, arguments), function) in registered() {
        let result = match function.result {
            ResultType::Is(ty) => ty.oid(),
            ResultType::Argument(at) => arguments.get(at).copied().unwrap_or(0),
            ResultType::Element(_) => 2283,
            ResultType::ArrayOf(_) => 2277,
        };
        let volatility = match function.stability {
            Stability::Immutable => "i",
            Stability::Stable => "s",
            Stability::Volatile => "v",
        };
        rows.add([
            ("oid", value::oid(FIRST_OID | (probe::hash(name, &arguments) & 0x0fff_ffff))),
            ("proname", value::text(name)),
            ("pronamespace", value::oid(11)),
            ("proowner", value::oid(10)),
            ("prolang", value::oid(12)),
            ("procost", Datum::from(1.0_f32)),
            ("prokind", value::text("f")),
            ("provolatile", value::text(volatility)),
            ("proparallel", value::text("s")),
            ("pronargs", value::count(arguments.len())),
            ("prorettype", value::oid(result)),
            ("proargtypes", value::oids(arguments)),
            ("prosrc", value::text(name)),
        ])?;
    }
    for aggregate in probe::AGGREGATES.iter() {
        let arguments: Vec<Oid> =
            aggregate.arguments.iter().map(|ty| ty.map_or(parameter_oid(Param::Any), |ty| ty.oid())).collect();
        rows.add([
            ("oid", value::oid(FIRST_OID | (probe::hash(aggregate.name, &arguments) & 0x0fff_ffff))),
            ("proname", value::text(aggregate.name)),
            ("pronamespace", value::oid(11)),
            ("proowner", value::oid(10)),
            ("prolang", value::oid(12)),
            ("procost", Datum::from(1.0_f32)),
            ("prokind", value::text("a")),
            ("provolatile", value::text("i")),
            ("proparallel", value::text("s")),
            ("pronargs", value::count(arguments.len())),
            ("prorettype", value::oid(aggregate.result.oid())),
            ("proargtypes", value::oids(arguments)),
            ("prosrc", value::text("aggregate_dummy")),
        ])?;
    }
    Ok(())
}
