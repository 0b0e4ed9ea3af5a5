//! [`Settings`]: the run-time parameters of a session (SET, SHOW, pg_settings).

/// Values of all settings. Immutable; SET makes a new one.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    _todo: (),
}

#[allow(unused_variables, clippy::unimplemented)]
impl Settings {
    /// The schemas searched for unqualified names, `"$user"` already replaced, pg_catalog not
    /// included unless named.
    pub fn search_path(&self) -> &[String] {
        unimplemented!()
    }
    /// TimeZone.
    pub fn time_zone(&self) -> chrono_tz::Tz {
        unimplemented!()
    }
    /// The value of a setting as SHOW prints it. Names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<String> {
        unimplemented!()
    }
}
