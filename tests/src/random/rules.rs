//! What random expressions are made of: operators, functions and values, each with the types it takes and gives. Must not
//! know what any of them means: PostgreSQL says it.
//!
//! Left out is what two right servers may say differently: sums of floats in another order, transcendental functions in
//! the last digit, and whatever asks for the time.

/// A type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ty {
    Int2,
    Int4,
    Int8,
    Numeric,
    Float8,
    Text,
    Bool,
    Date,
    Timestamp,
    Interval,
    Ints,
}

use Ty::{Bool, Date, Float8, Int2, Int4, Int8, Interval, Ints, Numeric, Text, Timestamp};

impl Ty {
    /// All of them.
    pub const ALL: [Ty; 11] = [Int2, Int4, Int8, Numeric, Float8, Text, Bool, Date, Timestamp, Interval, Ints];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Int2 => "int2",
            Int4 => "int4",
            Int8 => "int8",
            Numeric => "numeric",
            Float8 => "float8",
            Text => "text",
            Bool => "bool",
            Date => "date",
            Timestamp => "timestamp",
            Interval => "interval",
            Ints => "int4[]",
        }
    }

    /// Constants worth a try.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Int2 => &["0::int2", "1::int2", "'-32768'::int2", "32767::int2"],
            Int4 => &["0", "1", "-1", "2", "7", "2147483647", "'-2147483648'::int4"],
            Int8 => &["0::int8", "3000000000", "-1::int8", "9223372036854775807", "'-9223372036854775808'::int8"],
            Numeric => {
                &["0.0", "1.50", "-0.005", "99999999.99", "2.5", "'NaN'::numeric", "123456789012345678901234567890.5"]
            }
            Float8 => {
                &["0::float8", "1.5::float8", "-2.5::float8", "1e10::float8", "'NaN'::float8", "'infinity'::float8"]
            }
            Text => &["''", "'a'", "'abc'", "'Hello, World'", "'12'", "' x '", "'ÄÖß'", "'a_b%c'", "'it''s'"],
            Bool => &["true", "false", "null::bool"],
            Date => &["date '2000-01-01'", "date '2024-02-29'", "date '1999-12-31'"],
            Timestamp => &[
                "timestamp '2000-01-01 00:00:00'",
                "timestamp '2024-02-29 23:59:59.999999'",
                "timestamp '1969-07-20 20:17:40'",
            ],
            Interval => &[
                "interval '1 day'",
                "interval '1 month -3 days 02:03:04.5'",
                "interval '0'",
                "interval '-1 year'",
                "interval '36 hours'",
            ],
            Ints => &["array[1,2,3]", "'{}'::int4[]", "array[null,2]", "array[3]"],
        }
    }

    /// The columns of the table of this type.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Int2 => &["i2"],
            Int4 => &["i4", "id"],
            Int8 => &["i8"],
            Numeric => &["n", "m"],
            Float8 => &["f"],
            Text => &["s", "v::text"],
            Bool => &["b"],
            Date => &["d"],
            Timestamp => &["ts"],
            Interval => &["iv"],
            Ints => &["a"],
        }
    }
}

/// What an expression of a type can be: the type, the text with `{}` for each operand, the operands' types.
pub const RULES: &[(Ty, &str, &[Ty])] = &[
    (Int2, "({} + {})", &[Int2, Int2]),
    (Int2, "(- {})", &[Int2]),
    (Int2, "abs({})", &[Int2]),
    (Int2, "({} % {})", &[Int2, Int2]),
    (Int2, "{}::int2", &[Int4]),
    (Int4, "({} + {})", &[Int4, Int4]),
    (Int4, "({} - {})", &[Int4, Int2]),
    (Int4, "({} * {})", &[Int2, Int4]),
    (Int4, "({} / {})", &[Int4, Int4]),
    (Int4, "({} % {})", &[Int4, Int4]),
    (Int4, "(- {})", &[Int4]),
    (Int4, "abs({})", &[Int4]),
    (Int4, "({} & {})", &[Int4, Int4]),
    (Int4, "({} | {})", &[Int4, Int4]),
    (Int4, "({} # {})", &[Int4, Int4]),
    (Int4, "(~ {})", &[Int4]),
    (Int4, "({} >> ({} & 7))", &[Int4, Int4]),
    (Int4, "({} << ({} & 3))", &[Int4, Int4]),
    (Int4, "{}::int4", &[Numeric]),
    (Int4, "{}::int4", &[Float8]),
    (Int4, "{}::int4", &[Bool]),
    (Int4, "{}::int4", &[Int8]),
    (Int4, "length({})", &[Text]),
    (Int4, "octet_length({})", &[Text]),
    (Int4, "ascii({})", &[Text]),
    (Int4, "position({} in {})", &[Text, Text]),
    (Int4, "({} - {})", &[Date, Date]),
    (Int4, "cardinality({})", &[Ints]),
    (Int4, "array_length({}, 1)", &[Ints]),
    (Int4, "({})[{}]", &[Ints, Int4]),
    (Int4, "coalesce(array_position({}, {}), 0)", &[Ints, Int4]),
    (Int4, "gcd({}, {})", &[Int4, Int4]),
    (Int4, "(select count(*)::int4 from small where k < {})", &[Int4]),
    (Int4, "(select max(k) from small where k <> {})", &[Int4]),
    (Int8, "({} + {})", &[Int8, Int8]),
    (Int8, "({} - {})", &[Int8, Int4]),
    (Int8, "({} * {})", &[Int8, Int4]),
    (Int8, "({} / {})", &[Int8, Int8]),
    (Int8, "({} % {})", &[Int8, Int8]),
    (Int8, "{}::int8", &[Numeric]),
    (Int8, "{}::int8", &[Int4]),
    (Int8, "abs({})", &[Int8]),
    (Numeric, "({} + {})", &[Numeric, Numeric]),
    (Numeric, "({} - {})", &[Numeric, Int8]),
    (Numeric, "({} * {})", &[Numeric, Numeric]),
    (Numeric, "({} / {})", &[Numeric, Numeric]),
    (Numeric, "({} % {})", &[Numeric, Int4]),
    (Numeric, "div({}, {})", &[Numeric, Numeric]),
    (Numeric, "round({})", &[Numeric]),
    (Numeric, "round({}, {} & 7)", &[Numeric, Int4]),
    (Numeric, "trunc({}, 2)", &[Numeric]),
    (Numeric, "ceil({})", &[Numeric]),
    (Numeric, "floor({})", &[Numeric]),
    (Numeric, "sign({})", &[Numeric]),
    (Numeric, "sqrt(abs({}))", &[Numeric]),
    (Numeric, "{}::numeric", &[Int8]),
    (Numeric, "{}::numeric", &[Float8]),
    (Numeric, "{}::numeric(12,2)", &[Numeric]),
    (Numeric, "extract(year from {})", &[Date]),
    (Numeric, "extract(epoch from {})", &[Interval]),
    (Numeric, "extract(dow from {})", &[Timestamp]),
    (Numeric, "extract(week from {})", &[Date]),
    (Numeric, "scale({})::numeric", &[Numeric]),
    (Numeric, "trim_scale({})", &[Numeric]),
    (Float8, "({} + {})", &[Float8, Float8]),
    (Float8, "({} - {})", &[Float8, Int4]),
    (Float8, "({} * {})", &[Float8, Numeric]),
    (Float8, "({} / {})", &[Float8, Float8]),
    (Float8, "{}::float8", &[Int8]),
    (Float8, "{}::float8", &[Numeric]),
    (Float8, "abs({})", &[Float8]),
    (Float8, "round({})", &[Float8]),
    (Float8, "trunc({})", &[Float8]),
    (Float8, "floor({})", &[Float8]),
    (Float8, "sqrt(abs({}))", &[Float8]),
    (Float8, "date_part('month', {})", &[Timestamp]),
    (Text, "({} || {})", &[Text, Text]),
    (Text, "({} || {})", &[Text, Int4]),
    (Text, "({} || {})", &[Bool, Text]),
    (Text, "upper({})", &[Text]),
    (Text, "lower({})", &[Text]),
    (Text, "initcap({})", &[Text]),
    (Text, "reverse({})", &[Text]),
    (Text, "substr({}, {} % 5)", &[Text, Int4]),
    (Text, "substring({} from {} for 3)", &[Text, Int4]),
    (Text, "left({}, {})", &[Text, Int4]),
    (Text, "right({}, {})", &[Text, Int4]),
    (Text, "lpad({}, {} & 15, {})", &[Text, Int4, Text]),
    (Text, "rpad({}, {} & 15)", &[Text, Int4]),
    (Text, "btrim({})", &[Text]),
    (Text, "ltrim({}, {})", &[Text, Text]),
    (Text, "replace({}, {}, {})", &[Text, Text, Text]),
    (Text, "translate({}, {}, 'xyz')", &[Text, Text]),
    (Text, "repeat({}, {} % 4)", &[Text, Int4]),
    (Text, "split_part({}, {}, 1)", &[Text, Text]),
    (Text, "overlay({} placing {} from 2)", &[Text, Text]),
    (Text, "concat({}, {}, {})", &[Text, Numeric, Bool]),
    (Text, "concat_ws({}, {}, {})", &[Text, Int4, Date]),
    (Text, "format('%s|%L|%I', {}, {}, {})", &[Int8, Text, Text]),
    (Text, "quote_literal({})", &[Text]),
    (Text, "md5({})", &[Text]),
    (Text, "{}::text", &[Int8]),
    (Text, "{}::text", &[Numeric]),
    (Text, "{}::text", &[Float8]),
    (Text, "{}::text", &[Bool]),
    (Text, "{}::text", &[Timestamp]),
    (Text, "{}::text", &[Interval]),
    (Text, "{}::text", &[Ints]),
    (Text, "{}::varchar(3)::text", &[Text]),
    (Text, "{}::char(4)::text", &[Text]),
    (Text, "array_to_string({}, ',', '*')", &[Ints]),
    (Text, "to_char({}, 'YYYY-MM-DD HH24:MI:SS.US Day DDD')", &[Timestamp]),
    (Text, "to_char({}, 'FM9999990.00')", &[Numeric]),
    (Text, "to_char({}, '000,999S')", &[Int4]),
    (Text, "to_hex({})", &[Int4]),
    (Text, "(select string_agg(w, {} order by k) from small)", &[Text]),
    (Text, "regexp_replace({}, '[aeiou]+', '<\\&>', 'g')", &[Text]),
    (Bool, "({} = {})", &[Int4, Int8]),
    (Bool, "({} < {})", &[Int4, Numeric]),
    (Bool, "({} >= {})", &[Numeric, Float8]),
    (Bool, "({} <> {})", &[Float8, Float8]),
    (Bool, "({} < {})", &[Text, Text]),
    (Bool, "({} = {})", &[Text, Text]),
    (Bool, "({} > {})", &[Date, Timestamp]),
    (Bool, "({} <= {})", &[Interval, Interval]),
    (Bool, "({} = {})", &[Ints, Ints]),
    (Bool, "({} < {})", &[Ints, Ints]),
    (Bool, "({} @> {})", &[Ints, Ints]),
    (Bool, "({} && {})", &[Ints, Ints]),
    (Bool, "({} and {})", &[Bool, Bool]),
    (Bool, "({} or {})", &[Bool, Bool]),
    (Bool, "(not {})", &[Bool]),
    (Bool, "({} is null)", &[Numeric]),
    (Bool, "({} is not null)", &[Text]),
    (Bool, "({} is true)", &[Bool]),
    (Bool, "({} is not false)", &[Bool]),
    (Bool, "({} is unknown)", &[Bool]),
    (Bool, "({} is distinct from {})", &[Int4, Int4]),
    (Bool, "({} is not distinct from {})", &[Numeric, Numeric]),
    (Bool, "({} between {} and {})", &[Int4, Int4, Int8]),
    (Bool, "({} not between symmetric {} and {})", &[Date, Date, Date]),
    (Bool, "({} in ({}, {}, 3))", &[Int4, Int4, Int4]),
    (Bool, "({} not in ({}, 'b'))", &[Text, Text]),
    (Bool, "({} = any ({}))", &[Int4, Ints]),
    (Bool, "({} > all ({}))", &[Int4, Ints]),
    (Bool, "({} like {})", &[Text, Text]),
    (Bool, "({} ilike '%a%')", &[Text]),
    (Bool, "({} ~ '^[a-c]')", &[Text]),
    (Bool, "(({}, {}) < ({}, {}))", &[Int4, Text, Int4, Text]),
    (Bool, "(({}, {}) is distinct from ({}, {}))", &[Int4, Date, Int4, Date]),
    (Bool, "({} in (select k from small))", &[Int4]),
    (Bool, "({} not in (select k from small where k is not null))", &[Int4]),
    (Bool, "exists (select 1 from small where k = {})", &[Int4]),
    (Bool, "({} > all (select k from small where k < {}))", &[Int4, Int4]),
    (Bool, "{}::bool", &[Int4]),
    (Bool, "starts_with({}, {})", &[Text, Text]),
    (Date, "({} + ({} % 1000))", &[Date, Int4]),
    (Date, "({} - ({} & 255))", &[Date, Int4]),
    (Date, "{}::date", &[Timestamp]),
    (Date, "make_date(2000 + ({} & 63), 1 + ({} & 7), 15)", &[Int4, Int4]),
    (Timestamp, "{}::timestamp", &[Date]),
    (Timestamp, "({} + {})", &[Timestamp, Interval]),
    (Timestamp, "({} - {})", &[Date, Interval]),
    (Timestamp, "date_trunc('month', {})", &[Timestamp]),
    (Timestamp, "date_trunc('week', {})", &[Timestamp]),
    (Timestamp, "{}::timestamp(1)", &[Timestamp]),
    (Interval, "({} - {})", &[Timestamp, Timestamp]),
    (Interval, "age({}, {})", &[Timestamp, Timestamp]),
    (Interval, "({} + {})", &[Interval, Interval]),
    (Interval, "({} * ({} % 100))", &[Interval, Int4]),
    (Interval, "({} / 7)", &[Interval]),
    (Interval, "(- {})", &[Interval]),
    (Interval, "justify_interval({})", &[Interval]),
    (Interval, "make_interval(days => {} & 255)", &[Int4]),
    (Ints, "array[{}, {}]", &[Int4, Int4]),
    (Ints, "({} || {})", &[Ints, Int4]),
    (Ints, "({} || {})", &[Ints, Ints]),
    (Ints, "array_remove({}, {})", &[Ints, Int4]),
    (Ints, "array_replace({}, {}, 5)", &[Ints, Int4]),
    (Ints, "({})[2:]", &[Ints]),
    (Ints, "string_to_array({}, ',')::text[]::int4[]", &[Text]),
    (Ints, "array(select k from small where k > {} order by k)", &[Int4]),
];

/// What is of whatever type its operands are. `T` stands for operands of that type.
pub const ANY: &[(&str, &[Option<Ty>])] = &[
    ("coalesce({}, {})", &[None, None]),
    ("nullif({}, {})", &[None, None]),
    ("greatest({}, {}, {})", &[None, None, None]),
    ("least({}, {})", &[None, None]),
    ("(case when {} then {} else {} end)", &[Some(Bool), None, None]),
    ("(case when {} then {} when {} then {} end)", &[Some(Bool), None, Some(Bool), None]),
    ("(case {} when {} then {} else {} end)", &[Some(Int4), Some(Int4), None, None]),
];

/// Aggregates: the text, the type of the argument.
pub const AGGREGATES: &[(&str, Ty)] = &[
    ("count({})", Text),
    ("count(distinct {})", Numeric),
    ("sum({})", Int4),
    ("sum({})", Int8),
    ("sum({})", Numeric),
    ("avg({})", Int4),
    ("avg({})", Numeric),
    ("min({})", Text),
    ("max({})", Numeric),
    ("min({})", Date),
    ("max({})", Interval),
    ("min({})", Float8),
    ("max({})", Ints),
    ("bool_and({})", Bool),
    ("bool_or({})", Bool),
    ("sum({} % 10) filter (where b)", Int4),
    ("string_agg({}, ',' order by id)", Text),
    ("array_agg({} order by id desc)", Int4),
    ("var_pop({} % 100)", Int4),
    ("stddev({} % 100)", Int4),
    ("bit_or({})", Int4),
    ("percentile_disc(0.5) within group (order by {})", Int4),
    ("mode() within group (order by {})", Bool),
];

/// Window functions: the text, the type of the argument.
pub const WINDOWS: &[(&str, Ty)] = &[
    ("row_number() over (order by {}, id)", Int4),
    ("rank() over (order by {})", Bool),
    ("dense_rank() over (partition by b order by {} desc)", Text),
    ("lag({}, 2) over (order by id)", Numeric),
    ("lead({}, 1) over (partition by b order by id)", Text),
    ("sum({}) over (order by id)", Int4),
    ("sum({}) over (order by id rows between 1 preceding and 1 following)", Numeric),
    ("max({}) over (partition by b)", Date),
    ("count({}) over (order by i2 groups 1 preceding)", Text),
    ("first_value({}) over (partition by b order by id desc)", Interval),
    ("ntile(3) over (order by {}, id)", Date),
    ("avg({}) over (order by id rows 2 preceding exclude current row)", Int4),
];

/// The tables that the expressions are over.
pub const TABLES: &str = "
    create table big (
        id int4 primary key, i2 int2, i4 int4, i8 int8, n numeric, m numeric(8,3), f float8, s text, v varchar(6), b bool,
        d date, ts timestamp, iv interval, a int4[]);
    insert into big values
        (1, 1, 10, 100, 1.50, 2.125, 1.5, 'abc', 'ab', true, '2024-02-29', '2024-02-29 12:30:45.5', '1 day', '{1,2,3}'),
        (2, -1, -10, -100, -0.005, -1, -0.5, '', '', false, '1999-12-31', '1999-12-31 23:59:59', '-2 hours', '{}'),
        (3, null, null, null, null, null, null, null, null, null, null, null, null, null),
        (4, 32767, 2147483647, 9223372036854775807, 99999999999.99, 99999.999, 1e15, 'Zebra', 'zzzzzz', true,
         '2000-01-01', '2000-01-01', '1 year 2 months', '{null,7}'),
        (5, -32768, -2147483648, -9223372036854775808, 'NaN', 0.001, 'NaN', 'ÄÖü ß', 'ä', false, '4000-01-01', null,
         '00:00:00.000001', '{5,5}'),
        (6, 0, 0, 0, 0, 0, 0, '12', '12', null, '1970-01-01', '1970-01-01', '0', '{0}'),
        (7, 7, 7, 7, 7.0, 7, 7, 'a_b%c', 'a', true, '2023-03-31', '2023-03-31 06:00', '30 days', '{3,2,1}'),
        (8, 2, 3, 3000000000, 2.50, null, '-infinity', ' x ', ' x', null, null, '1969-07-20 20:17:40', null, null);
    create table small (k int4, w text);
    insert into small values (1, 'abc'), (2, null), (7, 'x'), (10, ''), (null, 'abc');
";
