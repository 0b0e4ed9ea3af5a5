//! `pg_stat_ssl` and `pg_stat_gssapi`: the encryption of clients' connections. They show the
//! sessions that `pg_stat_activity` shows.

use super::definition::{Definition, Fill, value};
use catalog::predefined;
use context::activity::Backend;
use executor::StatementContext;
use types::Datum;

pub(super) const TLS: Definition = Definition {
    oid: 12249,
    name: "pg_catalog.pg_stat_ssl",
    columns: "pid int4, ssl bool, version text, cipher text, bits int4, client_dn text, client_serial numeric, issuer_dn \
              text",
    fill: Fill::Now(|context, rows| {
        for backend in clients(context) {
            let tls = backend.link.tls.as_ref();
            rows.add([
                ("pid", Datum::from(backend.pid)),
                ("ssl", Datum::from(tls.is_some())),
                ("version", value::optional(tls.map(|tls| tls.version))),
                ("cipher", value::optional(tls.map(|tls| tls.cipher.as_str()))),
                ("bits", Datum::Int32(tls.map(|tls| tls.bits))),
            ])?;
        }
        Ok(())
    }),
};

/// GSSAPI is not supported, so every client is without it.
pub(super) const GSSAPI: Definition = Definition {
    oid: 12253,
    name: "pg_catalog.pg_stat_gssapi",
    columns: "pid int4, gss_authenticated bool, principal text, encrypted bool",
    fill: Fill::Now(|context, rows| {
        for backend in clients(context) {
            rows.add([
                ("pid", Datum::from(backend.pid)),
                ("gss_authenticated", Datum::from(false)),
                ("encrypted", Datum::from(false)),
            ])?;
        }
        Ok(())
    }),
};

/// The sessions that the current role may see.
fn clients(context: &StatementContext) -> Vec<Backend> {
    let Ok(database) = context.session.database() else { return Vec::new() };
    let (superuser, roles) = (context.catalog.is_superuser(context.role()), context.catalog.acts_for(context.role()));
    let sees = |backend: &Backend| {
        superuser || roles.contains(&backend.user.0) || roles.contains(&predefined::READ_ALL_STATISTICS)
    };
    let all = database.activities().list().into_iter().map(|activity| activity.backend.clone());
    all.filter(|backend| backend.link.client.is_some() && sees(backend)).collect()
}
