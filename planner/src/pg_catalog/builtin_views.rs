//! `pg_proc`, `pg_aggregate`, `pg_operator`, `pg_opclass`, `pg_opfamily`, `pg_amop`, `pg_amproc` and `pg_cast`:
//! PostgreSQL's rows of supported objects, and the functions that only PercoSQL has.

use super::builtin::{
    AGGREGATES, CASTS, FAMILY_FUNCTIONS, FAMILY_OPERATORS, FUNCTIONS, Facts, OPERATOR_CLASSES, OPERATOR_FAMILIES,
    OPERATORS, Row, functions_named,
};
use super::definition::{Definition, Fill, Rows, value};
use super::present;
use crate::error::Result;
use crate::functions::registry::{self, ScalarFunction};
use crate::functions::{Param, ResultType, Stability};
use crate::types::{Datum, Oid};
use std::collections::BTreeMap;

pub(super) const FUNCTIONS_VIEW: Definition = Definition {
    oid: 1255,
    name: "pg_catalog.pg_proc",
    columns: "oid oid=0, proname name=, pronamespace oid=0, proowner oid=0, prolang oid=0, procost float4=0, prorows \
              float4=0, provariadic oid=0, prosupport regproc=0, prokind char=, prosecdef bool=f, proleakproof bool=f, \
              proisstrict bool=f, proretset bool=f, provolatile char=, proparallel char=, pronargs int2=0, \
              pronargdefaults int2=0, prorettype oid=0, proargtypes oidvector, proallargtypes oid[], proargmodes char[], \
              proargnames text[], proargdefaults text, protrftypes oid[], prosrc text=, probin text, prosqlbody text, \
              proconfig text[], proacl text[]",
    fill: Fill::Fixed(functions),
};

pub(super) const AGGREGATES_VIEW: Definition = Definition {
    oid: 2600,
    name: "pg_catalog.pg_aggregate",
    columns: "aggfnoid regproc=0, aggkind char=, aggnumdirectargs int2=0, aggtransfn regproc=0, aggfinalfn regproc=0, \
              aggcombinefn regproc=0, aggserialfn regproc=0, aggdeserialfn regproc=0, aggmtransfn regproc=0, \
              aggminvtransfn regproc=0, aggmfinalfn regproc=0, aggfinalextra bool=f, aggmfinalextra bool=f, \
              aggfinalmodify char=, aggmfinalmodify char=, aggsortop oid=0, aggtranstype oid=0, aggtransspace int4=0, \
              aggmtranstype oid=0, aggmtransspace int4=0, agginitval text, aggminitval text",
    fill: Fill::Fixed(|rows| add_all(&AGGREGATES, present::aggregates(), rows, &[])),
};

pub(super) const OPERATORS_VIEW: Definition = Definition {
    oid: 2617,
    name: "pg_catalog.pg_operator",
    columns: "oid oid=0, oprname name=, oprnamespace oid=0, oprowner oid=0, oprkind char=, oprcanmerge bool=f, \
              oprcanhash bool=f, oprleft oid=0, oprright oid=0, oprresult oid=0, oprcom oid=0, oprnegate oid=0, \
              oprcode regproc=0, oprrest regproc=0, oprjoin regproc=0",
    fill: Fill::Fixed(|rows| {
        let found = present::operators().map(|operator| &operator.row);
        add_all(&OPERATORS, found, rows, &[("oprnamespace", "11"), ("oprowner", "10")])
    }),
};

pub(super) const CLASSES_VIEW: Definition = Definition {
    oid: 2616,
    name: "pg_catalog.pg_opclass",
    columns: "oid oid=0, opcmethod oid=0, opcname name=, opcnamespace oid=0, opcowner oid=0, opcfamily oid=0, \
              opcintype oid=0, opcdefault bool=f, opckeytype oid=0",
    fill: Fill::Fixed(|rows| {
        add_all(&OPERATOR_CLASSES, present::classes(), rows, &[("opcnamespace", "11"), ("opcowner", "10")])
    }),
};

pub(super) const FAMILIES_VIEW: Definition = Definition {
    oid: 2753,
    name: "pg_catalog.pg_opfamily",
    columns: "oid oid=0, opfmethod oid=0, opfname name=, opfnamespace oid=0, opfowner oid=0",
    fill: Fill::Fixed(|rows| {
        add_all(&OPERATOR_FAMILIES, present::families(), rows, &[("opfnamespace", "11"), ("opfowner", "10")])
    }),
};

pub(super) const FAMILY_OPERATORS_VIEW: Definition = Definition {
    oid: 2602,
    name: "pg_catalog.pg_amop",
    columns: "oid oid=0, amopfamily oid=0, amoplefttype oid=0, amoprighttype oid=0, amopstrategy int2=0, amoppurpose \
              char=, amopopr oid=0, amopmethod oid=0, amopsortfamily oid=0",
    fill: Fill::Fixed(|rows| add_all(&FAMILY_OPERATORS, present::family_operators(), rows, &[])),
};

pub(super) const FAMILY_FUNCTIONS_VIEW: Definition = Definition {
    oid: 2603,
    name: "pg_catalog.pg_amproc",
    columns: "oid oid=0, amprocfamily oid=0, amproclefttype oid=0, amprocrighttype oid=0, amprocnum int2=0, amproc \
              regproc=0",
    fill: Fill::Fixed(|rows| add_all(&FAMILY_FUNCTIONS, present::family_functions(), rows, &[])),
};

pub(super) const CASTS_VIEW: Definition = Definition {
    oid: 2605,
    name: "pg_catalog.pg_cast",
    columns: "oid oid=0, castsource oid=0, casttarget oid=0, castfunc oid=0, castcontext char=, castmethod char=",
    fill: Fill::Fixed(|rows| add_all(&CASTS, present::casts(), rows, &[])),
};

fn add_all<'r>(
    facts: &Facts,
    found: impl Iterator<Item = &'r Row>,
    rows: &mut Rows,
    beside: &[(&str, &str)],
) -> Result<()> {
    for row in found {
        rows.add_fact(facts, row, beside)?;
    }
    Ok(())
}

fn functions(rows: &mut Rows) -> Result<()> {
    for function in present::functions() {
        let count = function.arguments.len().to_string();
        // The source of a function is its name, unless the row says otherwise.
        let source = function.row.field(20).is_none().then_some(("prosrc", function.name));
        let beside = [("pronamespace", "11"), ("proowner", "10"), ("pronargs", count.as_str())];
        let beside: Vec<_> = beside.into_iter().chain(source).collect();
        rows.add_fact(&FUNCTIONS, &function.row, &beside)?;
    }
    own_functions(rows)
}

/// OIDs of functions that PostgreSQL lacks begin here. The rest is a hash of the name and argument types.
const FIRST_OID: Oid = 0x5000_0000;

fn parameter_oid(parameter: Param) -> Oid {
    match parameter {
        Param::Is(ty) => ty.oid(),
        Param::Any => 2276,
        Param::AnyArray => 2277,
    }
}

/// FNV-1a of a name and types, so that an OID is stable between versions.
fn hash(name: &str, arguments: &[Oid]) -> Oid {
    let bytes = name.bytes().chain(arguments.iter().flat_map(|oid| oid.to_be_bytes()));
    bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The functions of the registry whose names PostgreSQL does not know.
fn own_functions(rows: &mut Rows) -> Result<()> {
    let own: BTreeMap<(&'static str, Vec<Oid>), &'static ScalarFunction> = registry::all()
        .filter(|function| functions_named(function.name) == 0)
        .map(|function| {
            let arguments = function.arguments.iter().copied().map(parameter_oid).collect();
            ((function.name, arguments), function)
        })
        .collect();
    for ((name, arguments), function) in own {
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
            ("oid", value::oid(FIRST_OID | (hash(name, &arguments) & 0x0fff_ffff))),
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
            ("proargtypes", value::oid_vector(arguments)),
            ("prosrc", value::text(name)),
        ])?;
    }
    Ok(())
}
