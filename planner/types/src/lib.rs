//! SQL types: PostgreSQL's OIDs, names and modifiers, and the Arrow form of their values.
//!
//! | type | Arrow |
//! |---|---|
//! | bool | Boolean |
//! | int2, int4, int8 | Int16, Int32, Int64 |
//! | oid and reg*, xid, cid | Int64 (0..=2^32-1) |
//! | xid8 | Int64: the number with its highest bit inverted, so that it sorts as unsigned |
//! | tid | Int64: the block times 2^16, and the number in it |
//! | float4, float8 | Float32, Float64 |
//! | numeric | Binary: the bytes of `numeric::Numeric`, ordered by value, then by scale |
//! | text, varchar(n), char(n), name, "char", unknown | Utf8 |
//! | bytea | LargeBinary |
//! | date | Date32, but days since 2000-01-01; i32::MIN and MAX are -infinity and infinity |
//! | timestamp | Timestamp(Microsecond, None), but since 2000-01-01; i64::MIN and MAX are -infinity and infinity |
//! | timestamptz | Timestamp(Microsecond, "+00:00") |
//! | time | Int64: microseconds since midnight |
//! | timetz | Binary: the bytes of `time::TimeTz`, in order |
//! | interval | Binary: the bytes of `interval::Interval`, ordered by span |
//! | json | Utf8: the text as it came |
//! | jsonb | Utf8: the text in jsonb's one form |
//! | jsonpath | Utf8: the text in jsonpath's one form |
//! | uuid | FixedSizeBinary(16) |
//! | an enum | Int64: the place of the label, in the order of labels |
//! | a record | Binary: the bytes of `record`, ordered by the fields |
//! | array of T | a struct of a list of T and the shape: see `array` |
//! | void | Null |

pub mod acl;
pub mod array;
pub mod ctype;
pub mod datetime;
pub mod encoding;
pub mod enumeration;
pub mod interval;
pub mod json;
pub mod jsonpath;
pub mod keyword;
pub mod length;
mod named;
pub mod numeric;
pub mod packed;
pub mod record;
pub mod regex;
pub mod text;
pub mod tid;
pub mod time;
pub mod value;

pub use ctype::Ctype;
pub use named::{system_type, type_named};

/// A pattern of [`BaseType`]: `regclass` and the other types whose OIDs are written as names.
#[macro_export]
macro_rules! object_name_type {
    () => {
        $crate::BaseType::Regclass
            | $crate::BaseType::Regtype
            | $crate::BaseType::Regproc
            | $crate::BaseType::Regprocedure
            | $crate::BaseType::Regoper
            | $crate::BaseType::Regoperator
            | $crate::BaseType::Regrole
            | $crate::BaseType::Regnamespace
            | $crate::BaseType::Regcollation
            | $crate::BaseType::Regconfig
            | $crate::BaseType::Regdictionary
    };
}

use arrow::datatypes::{DataType, TimeUnit};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A value: DataFusion's scalar, in the Arrow form of its type.
pub type Datum = datafusion_common::ScalarValue;

/// PostgreSQL's object identifier, 32 bits.
pub type Oid = u32;

/// The base of a type: neither its modifier nor whether it is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub enum BaseType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    Text,
    Varchar,
    /// The type char(n), called `bpchar` internally.
    Char,
    Name,
    /// The type `"char"`, one byte.
    SingleChar,
    Bytea,
    Date,
    Timestamp,
    Timestamptz,
    Interval,
    Time,
    Timetz,
    Uuid,
    Json,
    Jsonb,
    Jsonpath,
    Oid,
    Regclass,
    Regtype,
    Regproc,
    Regprocedure,
    Regoper,
    Regoperator,
    Regrole,
    Regnamespace,
    Regcollation,
    Regconfig,
    Regdictionary,
    /// `xid`: a transaction's number in system columns.
    Xid,
    /// `cid`: a command's number within its transaction.
    Cid,
    /// `xid8`: a transaction's number that never wraps around.
    Xid8,
    /// `tid`: a row's position in its table, as block and number.
    Tid,
    /// An enum that a user created.
    Enum(enumeration::EnumType),
    /// A composite value with these fields.
    Record(record::RecordType),
    /// The type of a literal or parameter before it is resolved.
    Unknown,
    Void,
}

/// A type: base, array or not, and PostgreSQL's modifier (`atttypmod`; -1 is none).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SqlType {
    /// Base or element type.
    pub base: BaseType,
    /// Whether this is an array of `base`.
    pub array: bool,
    /// Modifier: `n + 4` for varchar(n) and char(n), `(p << 16 | s) + 4` for numeric(p, s), -1 for none.
    pub modifier: i32,
}

#[allow(missing_docs)]
impl SqlType {
    pub const BOOL: SqlType = SqlType::of(BaseType::Bool);
    pub const INT2: SqlType = SqlType::of(BaseType::Int2);
    pub const INT4: SqlType = SqlType::of(BaseType::Int4);
    pub const INT8: SqlType = SqlType::of(BaseType::Int8);
    pub const FLOAT4: SqlType = SqlType::of(BaseType::Float4);
    pub const FLOAT8: SqlType = SqlType::of(BaseType::Float8);
    pub const NUMERIC: SqlType = SqlType::of(BaseType::Numeric);
    pub const TEXT: SqlType = SqlType::of(BaseType::Text);
    pub const VARCHAR: SqlType = SqlType::of(BaseType::Varchar);
    pub const CHAR: SqlType = SqlType::of(BaseType::Char);
    pub const NAME: SqlType = SqlType::of(BaseType::Name);
    pub const SINGLE_CHAR: SqlType = SqlType::of(BaseType::SingleChar);
    pub const BYTEA: SqlType = SqlType::of(BaseType::Bytea);
    pub const DATE: SqlType = SqlType::of(BaseType::Date);
    pub const TIMESTAMP: SqlType = SqlType::of(BaseType::Timestamp);
    pub const TIMESTAMPTZ: SqlType = SqlType::of(BaseType::Timestamptz);
    pub const INTERVAL: SqlType = SqlType::of(BaseType::Interval);
    pub const TIME: SqlType = SqlType::of(BaseType::Time);
    pub const TIMETZ: SqlType = SqlType::of(BaseType::Timetz);
    pub const JSON: SqlType = SqlType::of(BaseType::Json);
    pub const JSONB: SqlType = SqlType::of(BaseType::Jsonb);
    pub const JSONPATH: SqlType = SqlType::of(BaseType::Jsonpath);
    pub const UUID: SqlType = SqlType::of(BaseType::Uuid);
    pub const OID: SqlType = SqlType::of(BaseType::Oid);
    pub const REGCLASS: SqlType = SqlType::of(BaseType::Regclass);
    pub const UNKNOWN: SqlType = SqlType::of(BaseType::Unknown);
    pub const VOID: SqlType = SqlType::of(BaseType::Void);
}

impl SqlType {
    /// int2vector: an array of int2 counted from 0, written without braces. Only system catalogs use it.
    pub const INT2VECTOR: SqlType = SqlType { base: BaseType::Int2, array: true, modifier: VECTOR };
    /// oidvector: like int2vector, with elements of type oid.
    pub const OIDVECTOR: SqlType = SqlType { base: BaseType::Oid, array: true, modifier: VECTOR };

    /// Whether this is int2vector or oidvector.
    pub const fn is_vector(&self) -> bool {
        self.array && self.modifier == VECTOR
    }
    /// The modifier as clients see it.
    pub const fn shown_modifier(&self) -> i32 {
        if self.is_vector() { -1 } else { self.modifier }
    }
    /// The type of a base, without modifier.
    pub const fn of(base: BaseType) -> Self {
        SqlType { base, array: false, modifier: -1 }
    }
    /// The same type with another modifier.
    #[must_use]
    pub const fn with_modifier(self, modifier: i32) -> Self {
        SqlType { modifier, ..self }
    }
    /// The same type without a modifier.
    #[must_use]
    pub const fn plain(self) -> Self {
        self.with_modifier(-1)
    }
    /// The array type of this element type.
    #[must_use]
    pub const fn array_of(self) -> Self {
        SqlType { array: true, ..self }
    }
    /// The element type of an array.
    #[must_use]
    pub const fn element(self) -> Self {
        if self.is_vector() {
            return SqlType::of(self.base);
        }
        SqlType { array: false, ..self }
    }
    /// The Arrow type of this type's values (table in the module head).
    pub fn arrow(&self) -> DataType {
        let base = match self.base {
            BaseType::Bool => DataType::Boolean,
            BaseType::Int2 => DataType::Int16,
            BaseType::Int4 => DataType::Int32,
            BaseType::Int8 | BaseType::Time | BaseType::Oid | BaseType::Enum(_) => DataType::Int64,
            BaseType::Xid | BaseType::Cid | BaseType::Xid8 | BaseType::Tid | object_name_type!() => DataType::Int64,
            BaseType::Float4 => DataType::Float32,
            BaseType::Float8 => DataType::Float64,
            BaseType::Numeric | BaseType::Interval | BaseType::Timetz => DataType::Binary,
            BaseType::Text
            | BaseType::Varchar
            | BaseType::Char
            | BaseType::Name
            | BaseType::SingleChar
            | BaseType::Json
            | BaseType::Jsonb
            | BaseType::Jsonpath
            | BaseType::Unknown => DataType::Utf8,
            BaseType::Bytea => DataType::LargeBinary,
            BaseType::Date => DataType::Date32,
            BaseType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            BaseType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            BaseType::Record(_) => DataType::Binary,
            BaseType::Uuid => DataType::FixedSizeBinary(16),
            BaseType::Void => DataType::Null,
        };
        if self.array { array::data_type(base) } else { base }
    }
    /// Whether values are character strings.
    pub fn is_string(&self) -> bool {
        !self.array
            && matches!(
                self.base,
                BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name | BaseType::Unknown
            )
    }
    /// Whether values are numbers.
    pub fn is_number(&self) -> bool {
        !self.array
            && matches!(
                self.base,
                BaseType::Int2
                    | BaseType::Int4
                    | BaseType::Int8
                    | BaseType::Float4
                    | BaseType::Float8
                    | BaseType::Numeric
            )
    }
    /// Whether values are int2, int4 or int8.
    pub fn is_integer(&self) -> bool {
        !self.array && matches!(self.base, BaseType::Int2 | BaseType::Int4 | BaseType::Int8)
    }
    /// PostgreSQL's OID of the type.
    pub fn oid(&self) -> Oid {
        if self.is_vector() {
            return if self.base == BaseType::Int2 { 22 } else { 30 };
        }
        let (plain, array) = match self.base {
            BaseType::Bool => (16, 1000),
            BaseType::Int2 => (21, 1005),
            BaseType::Int4 => (23, 1007),
            BaseType::Int8 => (20, 1016),
            BaseType::Float4 => (700, 1021),
            BaseType::Float8 => (701, 1022),
            BaseType::Numeric => (1700, 1231),
            BaseType::Text => (25, 1009),
            BaseType::Varchar => (1043, 1015),
            BaseType::Char => (1042, 1014),
            BaseType::Name => (19, 1003),
            BaseType::SingleChar => (18, 1002),
            BaseType::Bytea => (17, 1001),
            BaseType::Date => (1082, 1182),
            BaseType::Timestamp => (1114, 1115),
            BaseType::Timestamptz => (1184, 1185),
            BaseType::Interval => (1186, 1187),
            BaseType::Time => (1083, 1183),
            BaseType::Timetz => (1266, 1270),
            BaseType::Json => (114, 199),
            BaseType::Jsonb => (3802, 3807),
            BaseType::Jsonpath => (4072, 4073),
            BaseType::Uuid => (2950, 2951),
            BaseType::Oid => (26, 1028),
            BaseType::Regclass => (2205, 2210),
            BaseType::Regtype => (2206, 2211),
            BaseType::Regproc => (24, 1008),
            BaseType::Regprocedure => (2202, 2207),
            BaseType::Regoper => (2203, 2208),
            BaseType::Regoperator => (2204, 2209),
            BaseType::Regrole => (4096, 4097),
            BaseType::Regnamespace => (4089, 4090),
            BaseType::Regcollation => (4191, 4192),
            BaseType::Regconfig => (3734, 3735),
            BaseType::Regdictionary => (3769, 3770),
            BaseType::Xid => (28, 1011),
            BaseType::Cid => (29, 1012),
            BaseType::Xid8 => (5069, 271),
            BaseType::Tid => (27, 1010),
            BaseType::Enum(ty) => (ty.descriptor().oid, ty.descriptor().array_oid),
            BaseType::Record(ty) => ty.row_of().map_or((2249, 2287), |row_of| record::row_type_oids(row_of.relation)),
            BaseType::Unknown => (705, 705),
            BaseType::Void => (2278, 2278),
        };
        if self.array { array } else { plain }
    }
    /// The enum, if the type is one.
    pub fn as_enum(&self) -> Option<enumeration::EnumType> {
        match self.base {
            BaseType::Enum(ty) if !self.array => Some(ty),
            _ => None,
        }
    }
    /// The record, if the type is one.
    pub fn as_record(&self) -> Option<record::RecordType> {
        match self.base {
            BaseType::Record(ty) if !self.array => Some(ty),
            _ => None,
        }
    }
    /// Whether this is a pseudo-type, which no column can have.
    pub fn is_pseudo(&self) -> bool {
        matches!(self.base, BaseType::Unknown | BaseType::Void)
            || matches!(self.base, BaseType::Record(ty) if ty.row_of().is_none())
    }
    /// The relation whose row type, or array of it, this is.
    pub fn row_of(&self) -> Option<&'static record::RowOf> {
        match self.base {
            BaseType::Record(ty) => ty.row_of(),
            _ => None,
        }
    }
    /// The record type of these fields.
    pub fn record(fields: Vec<(String, SqlType)>) -> SqlType {
        SqlType::of(BaseType::Record(record::RecordType::new(fields)))
    }
    /// The built-in type with this OID.
    pub fn from_oid(oid: Oid) -> Option<SqlType> {
        // Some catalogs call this for each row.
        static BY_OID: OnceLock<HashMap<Oid, SqlType>> = OnceLock::new();
        let by_oid = BY_OID.get_or_init(|| {
            let record = SqlType::of(BaseType::Record(record::RecordType::any()));
            let known = Self::ALL_BASES.iter().flat_map(|base| [SqlType::of(*base), SqlType::of(*base).array_of()]);
            let known = known.chain([SqlType::INT2VECTOR, SqlType::OIDVECTOR]).map(|ty| (ty.oid(), ty));
            // If two types share an OID, the first one counts.
            let mut by_oid = HashMap::from([(2249, record), (2287, record.array_of())]);
            for (oid, ty) in known {
                by_oid.entry(oid).or_insert(ty);
            }
            by_oid
        });
        by_oid.get(&oid).copied()
    }
    /// All base types.
    pub const ALL_BASES: [BaseType; 41] = [
        BaseType::Bool,
        BaseType::Int2,
        BaseType::Int4,
        BaseType::Int8,
        BaseType::Float4,
        BaseType::Float8,
        BaseType::Numeric,
        BaseType::Text,
        BaseType::Varchar,
        BaseType::Char,
        BaseType::Name,
        BaseType::SingleChar,
        BaseType::Bytea,
        BaseType::Date,
        BaseType::Timestamp,
        BaseType::Timestamptz,
        BaseType::Interval,
        BaseType::Time,
        BaseType::Timetz,
        BaseType::Uuid,
        BaseType::Json,
        BaseType::Jsonb,
        BaseType::Jsonpath,
        BaseType::Oid,
        BaseType::Regclass,
        BaseType::Regtype,
        BaseType::Regproc,
        BaseType::Regprocedure,
        BaseType::Regoper,
        BaseType::Regoperator,
        BaseType::Regrole,
        BaseType::Regnamespace,
        BaseType::Regcollation,
        BaseType::Regconfig,
        BaseType::Regdictionary,
        BaseType::Xid,
        BaseType::Cid,
        BaseType::Xid8,
        BaseType::Tid,
        BaseType::Unknown,
        BaseType::Void,
    ];
    /// PostgreSQL's `typlen`: bytes, -1 for variable length, -2 for C strings.
    pub fn length(&self) -> i16 {
        if self.array {
            return -1;
        }
        match self.base {
            BaseType::Bool | BaseType::SingleChar => 1,
            BaseType::Int2 => 2,
            BaseType::Int4
            | BaseType::Float4
            | BaseType::Date
            | BaseType::Oid
            | object_name_type!()
            | BaseType::Xid
            | BaseType::Cid
            | BaseType::Enum(_)
            | BaseType::Void => 4,
            BaseType::Tid => 6,
            BaseType::Xid8 => 8,
            BaseType::Int8 | BaseType::Float8 | BaseType::Timestamp | BaseType::Timestamptz | BaseType::Time => 8,
            BaseType::Timetz => 12,
            BaseType::Uuid | BaseType::Interval => 16,
            BaseType::Name => 64,
            BaseType::Record(_) => -1,
            BaseType::Unknown => -2,
            BaseType::Numeric
            | BaseType::Text
            | BaseType::Varchar
            | BaseType::Char
            | BaseType::Bytea
            | BaseType::Json
            | BaseType::Jsonb
            | BaseType::Jsonpath => -1,
        }
    }
    /// The name as `format_type` prints it, without modifier: `integer`, `character varying`, `text[]`.
    pub fn name(&self) -> String {
        if self.is_vector() {
            return if self.base == BaseType::Int2 { "int2vector" } else { "oidvector" }.to_string();
        }
        let base = match self.base {
            BaseType::Bool => "boolean",
            BaseType::Int2 => "smallint",
            BaseType::Int4 => "integer",
            BaseType::Int8 => "bigint",
            BaseType::Float4 => "real",
            BaseType::Float8 => "double precision",
            BaseType::Numeric => "numeric",
            BaseType::Text => "text",
            BaseType::Varchar => "character varying",
            BaseType::Char => "character",
            BaseType::Name => "name",
            BaseType::SingleChar => "\"char\"",
            BaseType::Bytea => "bytea",
            BaseType::Date => "date",
            BaseType::Timestamp => "timestamp without time zone",
            BaseType::Timestamptz => "timestamp with time zone",
            BaseType::Interval => "interval",
            BaseType::Time => "time without time zone",
            BaseType::Timetz => "time with time zone",
            BaseType::Json => "json",
            BaseType::Jsonb => "jsonb",
            BaseType::Jsonpath => "jsonpath",
            BaseType::Uuid => "uuid",
            BaseType::Oid => "oid",
            BaseType::Regclass => "regclass",
            BaseType::Regtype => "regtype",
            BaseType::Regproc => "regproc",
            BaseType::Regprocedure => "regprocedure",
            BaseType::Regoper => "regoper",
            BaseType::Regoperator => "regoperator",
            BaseType::Regrole => "regrole",
            BaseType::Regnamespace => "regnamespace",
            BaseType::Regcollation => "regcollation",
            BaseType::Regconfig => "regconfig",
            BaseType::Regdictionary => "regdictionary",
            BaseType::Xid => "xid",
            BaseType::Cid => "cid",
            BaseType::Xid8 => "xid8",
            BaseType::Tid => "tid",
            BaseType::Enum(ty) => &ty.descriptor().name,
            BaseType::Record(ty) => match ty.row_of() {
                Some(row_of) => &text::quote_identifier(&row_of.name),
                None => "record",
            },
            BaseType::Unknown => "unknown",
            BaseType::Void => "void",
        };
        if self.array { format!("{base}[]") } else { base.to_string() }
    }
    /// The name with its modifier: `numeric(10,2)`, `character varying(20)`.
    pub fn format(&self) -> String {
        if self.is_vector() {
            return self.name();
        }
        let element = self.element();
        let text = match (self.base, self.modifier) {
            (_, -1) => element.name(),
            (BaseType::Varchar | BaseType::Char, m) => format!("{}({})", element.name(), m - 4),
            (BaseType::Numeric, m) => {
                let (precision, scale) = numeric_modifier(m);
                format!("numeric({precision},{scale})")
            }
            (BaseType::Interval, m) => format!("interval{}", interval::Restriction::of_modifier(m).suffix()),
            (BaseType::Time | BaseType::Timetz | BaseType::Timestamp | BaseType::Timestamptz, m) => {
                let name = element.name();
                let (word, rest) = name.split_once(' ').unwrap_or((&name, ""));
                format!("{word}({m}) {rest}")
            }
            _ => element.name(),
        };
        if self.array { format!("{text}[]") } else { text }
    }
}

/// The modifier that marks a vector among arrays.
const VECTOR: i32 = i32::MAX;

/// Precision and scale of a numeric modifier.
pub fn numeric_modifier(modifier: i32) -> (i32, i32) {
    let value = modifier - 4;
    // The scale is eleven signed bits; PostgreSQL 15 allows -1000 to 1000.
    let scale = ((value & 0x7ff) ^ 1024) - 1024;
    ((value >> 16) & 0xffff, scale)
}

/// The modifier of numeric(precision, scale).
pub fn make_numeric_modifier(precision: i32, scale: i32) -> i32 {
    ((precision << 16) | (scale & 0x7ff)) + 4
}

impl BaseType {
    /// Whether values are OIDs that are written as names, as in `regclass`.
    pub const fn is_object_name(self) -> bool {
        matches!(self, object_name_type!())
    }
    /// Whether values are OIDs: `oid`, `regclass` and similar.
    pub const fn is_oid(self) -> bool {
        matches!(self, BaseType::Oid) || self.is_object_name()
    }
}
