//! [`BigtableAddress`]: a table's address, written as `bigtable://PROJECT/INSTANCE/TABLE`. Hosts and credentials come
//! from Google's own environment variables.

use std::fmt;
use std::str::FromStr;

/// The address of a Cloud Bigtable table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigtableAddress {
    /// The identifier of the Google Cloud project.
    pub project: String,
    /// The Bigtable instance in the project.
    pub instance: String,
    /// The table in the instance.
    pub table: String,
    /// The application profile. Empty selects the instance's default. It must route to a single cluster
    /// and allow single-row transactions.
    pub app_profile: String,
}

const SCHEME: &str = "bigtable://";
const FORM: &str = "write bigtable://PROJECT/INSTANCE/TABLE, or …?app_profile=NAME at its end";

impl BigtableAddress {
    /// The full name of the instance in requests.
    pub fn instance_name(&self) -> String {
        format!("projects/{}/instances/{}", self.project, self.instance)
    }

    /// The full name of the table in requests.
    pub fn table_name(&self) -> String {
        format!("{}/tables/{}", self.instance_name(), self.table)
    }
}

impl FromStr for BigtableAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| format!("{text}: {FORM}"))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let app_profile = match query {
            "" => "",
            _ => query.strip_prefix("app_profile=").ok_or_else(|| format!("{text}: {FORM}"))?,
        };
        let mut parts = path.split('/');
        let (Some(project), Some(instance), Some(table), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("{text}: {FORM}"));
        };
        // The service's rules for names. A project may carry its organisation: `example.com:name`.
        let legal = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        for part in [project, instance, table] {
            if part.is_empty() || !legal(part) {
                return Err(format!("{text}: {part:?} is not a name; {FORM}"));
            }
        }
        if !legal(app_profile) {
            return Err(format!("{text}: {app_profile:?} is not the name of an application profile"));
        }
        Ok(BigtableAddress {
            project: project.to_owned(),
            instance: instance.to_owned(),
            table: table.to_owned(),
            app_profile: app_profile.to_owned(),
        })
    }
}

impl fmt::Display for BigtableAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}/{}", self.project, self.instance, self.table)?;
        match self.app_profile.as_str() {
            "" => Ok(()),
            name => write!(f, "?app_profile={name}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for text in ["bigtable://p/i/t", "bigtable://example.com:p-1/i/t_2?app_profile=sql"] {
            assert_eq!(text.parse::<BigtableAddress>().unwrap().to_string(), text);
        }
        let address: BigtableAddress = "bigtable://p/i/t".parse().unwrap();
        assert_eq!(address.table_name(), "projects/p/instances/i/tables/t");
    }

    #[test]
    fn what_is_no_address_is_told() {
        for text in
            ["bigtable://p/i", "bigtable://p/i/t/u", "bigtable:p/i/t", "bigtable://p//t", "bigtable://p/i/t?x=y"]
        {
            let told = text.parse::<BigtableAddress>().unwrap_err();
            assert!(told.contains("bigtable://PROJECT/INSTANCE/TABLE"), "{told}");
        }
        assert!("bigtable://p/i/a b".parse::<BigtableAddress>().is_err());
    }
}
