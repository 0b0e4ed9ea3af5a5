//! `pg_type`: the types, generated from [`SqlType`] and the facts about each.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::{BaseType, Datum, Oid, SqlType};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// `pg_catalog.pg_type`.
pub(super) const VIEW: Definition = Definition {
    oid: 1247,
    name: "pg_catalog.pg_type",
    columns: "oid oid=0, typname name=, typnamespace oid=0, typowner oid=0, typlen int2=0, typbyval bool=f, typtype \
              char=, typcategory char=, typispreferred bool=f, typisdefined bool=f, typdelim char=, typrelid oid=0, \
              typsubscript regproc=0, typelem oid=0, typarray oid=0, typinput regproc=0, typoutput regproc=0, \
              typreceive regproc=0, typsend regproc=0, typmodin regproc=0, typmodout regproc=0, typanalyze regproc=0, \
              typalign char=, typstorage char=, typnotnull bool=f, typbasetype oid=0, typtypmod int4=0, typndims \
              int4=0, typcollation oid=0, typdefaultbin text, typdefault text, typacl text[]",
    fill: Fill::Now(rows),
};

/// OID, name, by value, category, preferred, input, output, receive, send, alignment, storage,
/// collation, kind and subscript function of every type.
const FACTS: &str = "\
16|bool|t|B|t|1242|1243|2436|2437|c|p|0|b|0\n\
17|bytea|f|U|f|1244|31|2412|2413|i|x|0|b|0\n\
18|char|t|Z|f|1245|33|2434|2435|c|p|0|b|0\n\
19|name|f|S|f|34|35|2422|2423|c|p|950|b|6180\n\
20|int8|t|N|f|460|461|2408|2409|d|p|0|b|0\n\
21|int2|t|N|f|38|39|2404|2405|s|p|0|b|0\n\
22|int2vector|f|A|f|40|41|2410|2411|i|p|0|b|6179\n\
23|int4|t|N|f|42|43|2406|2407|i|p|0|b|0\n\
24|regproc|t|N|f|44|45|2444|2445|i|p|0|b|0\n\
25|text|f|S|t|46|47|2414|2415|i|x|100|b|0\n\
26|oid|t|N|t|1798|1799|2418|2419|i|p|0|b|0\n\
30|oidvector|f|A|f|54|55|2420|2421|i|p|0|b|6179\n\
114|json|f|U|f|321|322|323|324|i|x|0|b|0\n\
199|_json|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
700|float4|t|N|f|200|201|2424|2425|i|p|0|b|0\n\
701|float8|t|N|t|214|215|2426|2427|d|p|0|b|0\n\
705|unknown|f|X|f|109|110|2416|2417|c|p|0|p|0\n\
1000|_bool|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1001|_bytea|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1002|_char|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1003|_name|f|A|f|750|751|2400|2401|i|x|950|b|6179\n\
1005|_int2|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1007|_int4|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1008|_regproc|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1009|_text|f|A|f|750|751|2400|2401|i|x|100|b|6179\n\
1014|_bpchar|f|A|f|750|751|2400|2401|i|x|100|b|6179\n\
1015|_varchar|f|A|f|750|751|2400|2401|i|x|100|b|6179\n\
1016|_int8|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1021|_float4|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1022|_float8|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1028|_oid|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1042|bpchar|f|S|f|1044|1045|2430|2431|i|x|100|b|0\n\
1043|varchar|f|S|f|1046|1047|2432|2433|i|x|100|b|0\n\
1082|date|t|D|f|1084|1085|2468|2469|i|p|0|b|0\n\
1083|time|t|D|f|1143|1144|2470|2471|d|p|0|b|0\n\
1114|timestamp|t|D|f|1312|1313|2474|2475|d|p|0|b|0\n\
1115|_timestamp|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1182|_date|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1183|_time|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1184|timestamptz|t|D|t|1150|1151|2476|2477|d|p|0|b|0\n\
1185|_timestamptz|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1186|interval|f|T|t|1160|1161|2478|2479|d|p|0|b|0\n\
1187|_interval|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1231|_numeric|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
1266|timetz|f|D|f|1350|1351|2472|2473|d|p|0|b|0\n\
1270|_timetz|f|A|f|750|751|2400|2401|d|x|0|b|6179\n\
1700|numeric|f|N|f|1701|1702|2460|2461|i|m|0|b|0\n\
2205|regclass|t|N|f|2218|2219|2452|2453|i|p|0|b|0\n\
2206|regtype|t|N|f|2220|2221|2454|2455|i|p|0|b|0\n\
2210|_regclass|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
2211|_regtype|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
2278|void|t|P|f|2298|2299|3120|3121|i|p|0|p|0\n\
2950|uuid|f|U|f|2952|2953|2961|2962|c|p|0|b|0\n\
2951|_uuid|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
3802|jsonb|f|U|f|3806|3804|3805|3803|i|x|0|b|6098\n\
3807|_jsonb|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
4072|jsonpath|f|U|f|4001|4003|4002|4004|i|x|0|b|0\n\
4073|_jsonpath|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
4089|regnamespace|t|N|f|4084|4085|4087|4088|i|p|0|b|0\n\
4090|_regnamespace|f|A|f|750|751|2400|2401|i|x|0|b|6179\n\
";

/// What PostgreSQL's catalog says of a type beyond [`SqlType`].
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeFacts {
    /// `typname`.
    pub name: &'static str,
    /// `typbyval`.
    pub by_value: bool,
    category: &'static str,
    preferred: bool,
    functions: [Oid; 4],
    /// `typalign`.
    pub align: &'static str,
    /// `typstorage`.
    pub storage: &'static str,
    /// `typcollation`.
    pub collation: Oid,
    kind: &'static str,
    subscript: Oid,
}

static TABLE: LazyLock<BTreeMap<Oid, TypeFacts>> = LazyLock::new(|| FACTS.lines().filter_map(facts_of).collect());

fn facts_of(line: &'static str) -> Option<(Oid, TypeFacts)> {
    let fields: Vec<&'static str> = line.split('|').collect();
    let field = |place: usize| fields.get(place).copied();
    let number = |place: usize| field(place)?.parse::<Oid>().ok();
    let facts = TypeFacts {
        name: field(1)?,
        by_value: field(2)? == "t",
        category: field(3)?,
        preferred: field(4)? == "t",
        functions: [number(5)?, number(6)?, number(7)?, number(8)?],
        align: field(9)?,
        storage: field(10)?,
        collation: number(11)?,
        kind: field(12)?,
        subscript: number(13)?,
    };
    Some((number(0)?, facts))
}

/// The facts about a type.
pub(super) fn type_facts(ty: &SqlType) -> TypeFacts {
    if let (BaseType::Enum(_), false) = (ty.base, ty.array) {
        // Stored by number.
        return TypeFacts { name: "enum", by_value: true, category: "E", storage: "p", kind: "e", ..UNKNOWN };
    }
    TABLE.get(&ty.oid()).copied().unwrap_or(UNKNOWN)
}

const UNKNOWN: TypeFacts = TypeFacts {
    name: "unknown",
    by_value: false,
    category: "X",
    preferred: false,
    functions: [0; 4],
    align: "i",
    storage: "x",
    collation: 0,
    kind: "p",
    subscript: 0,
};

/// Every type with its facts, by OID.
pub(super) fn all() -> impl Iterator<Item = (SqlType, TypeFacts)> {
    TABLE.iter().filter_map(|(oid, facts)| Some((SqlType::from_oid(*oid)?, *facts)))
}

/// The rows of users' enums and their arrays.
fn enum_rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for ty in context.catalog.enums() {
        for array in [false, true] {
            let [input, output, receive, send] = if array { [750, 751, 2400, 2401] } else { [3506, 3507, 3532, 3533] };
            rows.add([
                ("oid", value::oid(if array { ty.array_oid } else { ty.oid })),
                ("typname", value::text(if array { format!("_{}", ty.name) } else { ty.name.clone() })),
                ("typnamespace", value::oid(ty.schema_oid)),
                ("typowner", value::oid(ty.owner)),
                ("typlen", Datum::from(if array { -1_i16 } else { 4 })),
                ("typbyval", Datum::from(!array)),
                ("typtype", value::text(if array { "b" } else { "e" })),
                ("typcategory", value::text(if array { "A" } else { "E" })),
                ("typispreferred", Datum::from(false)),
                ("typisdefined", Datum::from(true)),
                ("typdelim", value::text(",")),
                ("typsubscript", value::oid(if array { 6179 } else { 0 })),
                ("typelem", value::oid(if array { ty.oid } else { 0 })),
                ("typarray", value::oid(if array { 0 } else { ty.array_oid })),
                ("typinput", value::oid(input)),
                ("typoutput", value::oid(output)),
                ("typreceive", value::oid(receive)),
                ("typsend", value::oid(send)),
                ("typalign", value::text("i")),
                ("typstorage", value::text(if array { "x" } else { "p" })),
                ("typtypmod", Datum::from(-1)),
                ("typcollation", value::oid(0)),
            ])?;
        }
    }
    Ok(())
}

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    enum_rows(context, rows)?;
    for (ty, facts) in all() {
        let pseudo = facts.kind == "p";
        let array = if ty.array || pseudo { 0 } else { ty.array_of().oid() };
        let element = if ty.array { ty.element().oid() } else { 0 };
        // A name is an array of "char" to PostgreSQL.
        let element = if ty == SqlType::NAME { SqlType::SINGLE_CHAR.oid() } else { element };
        let [input, output, receive, send] = facts.functions;
        rows.add([
            ("oid", value::oid(ty.oid())),
            ("typname", value::text(facts.name)),
            ("typnamespace", value::oid(11)),
            ("typowner", value::oid(10)),
            ("typlen", Datum::from(ty.length())),
            ("typbyval", Datum::from(facts.by_value)),
            ("typtype", value::text(facts.kind)),
            ("typcategory", value::text(facts.category)),
            ("typispreferred", Datum::from(facts.preferred)),
            ("typisdefined", Datum::from(true)),
            ("typdelim", value::text(",")),
            ("typsubscript", value::oid(facts.subscript)),
            ("typelem", value::oid(element)),
            ("typarray", value::oid(array)),
            ("typinput", value::oid(input)),
            ("typoutput", value::oid(output)),
            ("typreceive", value::oid(receive)),
            ("typsend", value::oid(send)),
            ("typalign", value::text(facts.align)),
            ("typstorage", value::text(facts.storage)),
            ("typtypmod", Datum::from(-1)),
            ("typcollation", value::oid(facts.collation)),
        ])?;
    }
    Ok(())
}
