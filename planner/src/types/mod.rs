//! SQL types: PostgreSQL's OIDs, names and modifiers, and how each value stands in Arrow.
//!
//! | type | Arrow |
//! |---|---|
//! | bool | Boolean |
//! | int2, int4, int8 | Int16, Int32, Int64 |
//! | oid and reg* | Int64 (0..=2^32-1) |
//! | float4, float8 | Float32, Float64 |
//! | numeric | Binary: the bytes of `numeric::Numeric`, ordered by value, then by scale |
//! | text, varchar(n), char(n), name, "char", unknown | Utf8 |
//! | bytea | LargeBinary |
//! | date | Date32 (days since 1970-01-01; i32::MIN and MAX are -infinity and infinity) |
//! | timestamp | Timestamp(Microsecond, None); i64::MIN and MAX are -infinity and infinity |
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
//! | array of T | List(item: T, nullable) |
//! | void | Null |
//!
//! Must not know wire, catalog or plans.

pub mod datetime;
pub mod enumeration;
pub mod interval;
pub mod json;
pub mod jsonpath;
pub mod length;
pub mod numeric;
pub mod record;
pub mod text;
pub mod time;
pub mod value;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use std::sync::Arc;

/// A value: DataFusion's scalar, in the Arrow form of its type.
pub type Datum = datafusion::scalar::ScalarValue;

/// PostgreSQL's object identifier.
pub type Oid = u32;

/// The base of a type, without array-ness and modifier.
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
    /// char(n), `bpchar`.
    Char,
    Name,
    /// `"char"`, one byte.
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
    Regnamespace,
    /// A type of labels that a user made.
    Enum(enumeration::EnumType),
    /// A row as a value.
    Record(record::RecordType),
    /// A literal or parameter whose type is not resolved yet.
    Unknown,
    Void,
}

/// A type: base, array or not, and modifier as PostgreSQL encodes it (`atttypmod`; -1 for none).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SqlType {
    /// Base or element type.
    pub base: BaseType,
    /// Whether this is an array of `base`.
    pub array: bool,
    /// Modifier: `n + 4` for varchar(n) and char(n), `(p << 16 | s) + 4` for numeric(p, s).
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
    /// int2vector: an array of int2 counted from 0, written without braces. Only catalogs have it.
    pub const INT2VECTOR: SqlType = SqlType { base: BaseType::Int2, array: true, modifier: VECTOR };
    /// oidvector: the same of oid.
    pub const OIDVECTOR: SqlType = SqlType { base: BaseType::Oid, array: true, modifier: VECTOR };

    /// Whether this is int2vector or oidvector.
    pub const fn is_vector(&self) -> bool {
        self.array && self.modifier == VECTOR
    }
    /// The plain type of a base.
    pub const fn of(base: BaseType) -> Self {
        SqlType { base, array: false, modifier: -1 }
    }
    /// The same with a modifier.
    #[must_use]
    pub const fn with_modifier(self, modifier: i32) -> Self {
        SqlType { modifier, ..self }
    }
    /// The same without modifier.
    #[must_use]
    pub const fn plain(self) -> Self {
        self.with_modifier(-1)
    }
    /// An array of this.
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
    /// The Arrow type that holds values of this type (table in the module head).
    pub fn arrow(&self) -> DataType {
        let base = match self.base {
            BaseType::Bool => DataType::Boolean,
            BaseType::Int2 => DataType::Int16,
            BaseType::Int4 => DataType::Int32,
            BaseType::Int8
            | BaseType::Time
            | BaseType::Oid
            | BaseType::Regclass
            | BaseType::Regtype
            | BaseType::Regproc
            | BaseType::Regnamespace
            | BaseType::Enum(_) => DataType::Int64,
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
        if self.array { DataType::List(Self::list_item(base)) } else { base }
    }
    fn list_item(item: DataType) -> FieldRef {
        Arc::new(Field::new_list_field(item, true))
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
            BaseType::Regnamespace => (4089, 4090),
            BaseType::Enum(ty) => (ty.descriptor().oid, ty.descriptor().array_oid),
            BaseType::Record(_) => (2249, 2287),
            BaseType::Unknown => (705, 705),
            BaseType::Void => (2278, 2278),
        };
        if self.array { array } else { plain }
    }
    /// The enum, if it is one.
    pub fn as_enum(&self) -> Option<enumeration::EnumType> {
        match self.base {
            BaseType::Enum(ty) if !self.array => Some(ty),
            _ => None,
        }
    }
    /// The record, if it is one.
    pub fn as_record(&self) -> Option<record::RecordType> {
        match self.base {
            BaseType::Record(ty) if !self.array => Some(ty),
            _ => None,
        }
    }
    /// The type of records of these fields.
    pub fn record(fields: Vec<(String, SqlType)>) -> SqlType {
        SqlType::of(BaseType::Record(record::RecordType::new(fields)))
    }
    /// The type with this OID, if it is built in.
    pub fn from_oid(oid: Oid) -> Option<SqlType> {
        let record = SqlType::of(BaseType::Record(record::RecordType::any()));
        match oid {
            2249 => return Some(record),
            2287 => return Some(record.array_of()),
            _ => {}
        }
        Self::ALL_BASES
            .iter()
            .flat_map(|base| [SqlType::of(*base), SqlType::of(*base).array_of()])
            .chain([SqlType::INT2VECTOR, SqlType::OIDVECTOR])
            .find(|ty| ty.oid() == oid)
    }
    /// Every base.
    pub const ALL_BASES: [BaseType; 30] = [
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
        BaseType::Regnamespace,
        BaseType::Unknown,
        BaseType::Void,
    ];
    /// PostgreSQL's `typlen`: bytes, or -1 for variable, -2 for C strings.
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
            | BaseType::Regclass
            | BaseType::Regtype
            | BaseType::Regproc
            | BaseType::Regnamespace
            | BaseType::Enum(_)
            | BaseType::Void => 4,
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
    /// The name as `format_type` prints it without modifier: `integer`, `character varying`, `text[]`.
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
            BaseType::Regnamespace => "regnamespace",
            BaseType::Enum(ty) => &ty.descriptor().name,
            BaseType::Record(_) => "record",
            BaseType::Unknown => "unknown",
            BaseType::Void => "void",
        };
        if self.array { format!("{base}[]") } else { base.to_string() }
    }
    /// The name with modifier: `numeric(10,2)`, `character varying(20)`.
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

/// The modifier that tells a vector from an array.
const VECTOR: i32 = i32::MAX;

/// Precision and scale of a numeric modifier.
pub fn numeric_modifier(modifier: i32) -> (i32, i32) {
    let value = modifier - 4;
    // The scale is eleven bits, signed (PostgreSQL 15 allows -1000 to 1000).
    let scale = ((value & 0x7ff) ^ 1024) - 1024;
    ((value >> 16) & 0xffff, scale)
}

/// The modifier of numeric(precision, scale).
pub fn make_numeric_modifier(precision: i32, scale: i32) -> i32 {
    ((precision << 16) | (scale & 0x7ff)) + 4
}

/// The type with this name as SQL writes it: `int4`, `integer`, `character varying(20)`, `text[]`, `_text`.
pub fn type_named(name: &str) -> Option<SqlType> {
    let mut name = name.trim().to_ascii_lowercase();
    if let Some(rest) = name.strip_prefix("pg_catalog.") {
        name = rest.to_string();
    }
    if let Some(element) = name.strip_suffix("[]").or_else(|| name.strip_prefix('_')) {
        return type_named(element).map(|ty| ty.element().with_modifier(ty.modifier).array_of());
    }
    let (base, modifier) = match name.split_once('(') {
        Some((base, rest)) => {
            let (inside, after) = rest.split_once(')')?;
            let numbers =
                inside.split(',').map(|number| number.trim().parse::<i32>().ok()).collect::<Option<Vec<_>>>()?;
            (format!("{} {}", base.trim(), after.trim()).trim().to_string(), numbers)
        }
        None => (name, Vec::new()),
    };
    let ty = match base.as_str() {
        "bool" | "boolean" => SqlType::BOOL,
        "int2" | "smallint" => SqlType::INT2,
        "int4" | "int" | "integer" => SqlType::INT4,
        "int8" | "bigint" => SqlType::INT8,
        "float4" | "real" => SqlType::FLOAT4,
        "float8" | "double precision" | "float" => SqlType::FLOAT8,
        "numeric" | "decimal" => SqlType::NUMERIC,
        "text" => SqlType::TEXT,
        "varchar" | "character varying" => SqlType::VARCHAR,
        "bpchar" | "character" | "char" => SqlType::CHAR,
        "name" => SqlType::NAME,
        "\"char\"" => SqlType::SINGLE_CHAR,
        "bytea" => SqlType::BYTEA,
        "date" => SqlType::DATE,
        "timestamp" | "timestamp without time zone" => SqlType::TIMESTAMP,
        "timestamptz" | "timestamp with time zone" => SqlType::TIMESTAMPTZ,
        "interval" => SqlType::INTERVAL,
        "time" | "time without time zone" => SqlType::TIME,
        "timetz" | "time with time zone" => SqlType::TIMETZ,
        "json" => SqlType::JSON,
        "jsonb" => SqlType::JSONB,
        "jsonpath" => SqlType::JSONPATH,
        "uuid" => SqlType::UUID,
        "oid" => SqlType::OID,
        "regclass" => SqlType::REGCLASS,
        "regtype" => SqlType::of(BaseType::Regtype),
        "regproc" => SqlType::of(BaseType::Regproc),
        "regnamespace" => SqlType::of(BaseType::Regnamespace),
        "int2vector" => SqlType::INT2VECTOR,
        "oidvector" => SqlType::OIDVECTOR,
        "unknown" => SqlType::UNKNOWN,
        "void" => SqlType::VOID,
        _ => return None,
    };
    Some(match (ty.base, modifier.as_slice()) {
        (BaseType::Numeric, [precision]) => ty.with_modifier(make_numeric_modifier(*precision, 0)),
        (BaseType::Numeric, [precision, scale]) => ty.with_modifier(make_numeric_modifier(*precision, *scale)),
        (BaseType::Varchar | BaseType::Char, [length]) => ty.with_modifier(length + 4),
        (BaseType::Char, []) if base != "bpchar" => ty.with_modifier(5),
        (BaseType::Time | BaseType::Timetz | BaseType::Timestamp | BaseType::Timestamptz, [digits @ 0..=6]) => {
            ty.with_modifier(*digits)
        }
        (BaseType::Interval, [digits @ 0..=6]) => {
            ty.with_modifier(interval::Restriction::of_precision(*digits).modifier())
        }
        (_, []) => ty,
        _ => return None,
    })
}
