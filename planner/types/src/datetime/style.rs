//! [`DateFormat`]: the setting DateStyle. It gives the output form of dates and the order of their fields on input.

/// The output form of dates and timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DateStyle {
    /// ISO 8601: `1997-12-17 07:37:16-08`
    #[default]
    Iso,
    /// Slashes: `12/17/1997 07:37:16.00 PST`
    Sql,
    /// Like Unix `date`: `Wed Dec 17 07:37:16 1997 PST`
    Postgres,
    /// Dots: `17.12.1997 07:37:16.00 PST`
    German,
}

/// The order of day, month and year. It applies to ambiguous input and to some output styles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DateOrder {
    /// The order month, day, year.
    #[default]
    Mdy,
    /// The order day, month, year.
    Dmy,
    /// The order year, month, day.
    Ymd,
}

/// The value of the setting DateStyle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DateFormat {
    /// The output form of dates.
    pub style: DateStyle,
    /// The order of day, month and year.
    pub order: DateOrder,
}

impl DateFormat {
    /// The default DateStyle, `ISO, MDY`.
    pub const ISO: DateFormat = DateFormat { style: DateStyle::Iso, order: DateOrder::Mdy };

    /// The value as SHOW prints it.
    pub fn name(self) -> String {
        let style = match self.style {
            DateStyle::Iso => "ISO",
            DateStyle::Sql => "SQL",
            DateStyle::Postgres => "Postgres",
            DateStyle::German => "German",
        };
        let order = match self.order {
            DateOrder::Mdy => "MDY",
            DateOrder::Dmy => "DMY",
            DateOrder::Ymd => "YMD",
        };
        format!("{style}, {order}")
    }

    /// This format, changed by a list of key words. Errors: the text of PostgreSQL's error detail.
    pub fn changed(self, list: &str) -> Result<DateFormat, String> {
        let (mut style, mut order) = (None, None);
        let conflict = || "Conflicting \"datestyle\" specifications.".to_string();
        for word in list.split(',') {
            let word = word.trim().trim_matches(|c| c == '"' || c == '\'').to_ascii_lowercase();
            let said = match word.as_str() {
                "iso" => (Some(DateStyle::Iso), None),
                "sql" => (Some(DateStyle::Sql), None),
                word if word.starts_with("postgres") => (Some(DateStyle::Postgres), None),
                "german" => {
                    // The style German implies the order DMY, unless the list names another order.
                    order = order.or(Some((DateOrder::Dmy, false)));
                    (Some(DateStyle::German), None)
                }
                "ymd" => (None, Some(DateOrder::Ymd)),
                "dmy" => (None, Some(DateOrder::Dmy)),
                word if word.starts_with("euro") => (None, Some(DateOrder::Dmy)),
                "mdy" | "us" => (None, Some(DateOrder::Mdy)),
                word if word.starts_with("noneuro") => (None, Some(DateOrder::Mdy)),
                "default" => {
                    style = style.or(Some(DateStyle::Iso));
                    order = order.or(Some((DateOrder::Mdy, false)));
                    continue;
                }
                _ => return Err(format!("Unrecognized key word: \"{word}\".")),
            };
            if let Some(said) = said.0
                && style.replace(said).is_some_and(|before| before != said)
            {
                return Err(conflict());
            }
            if let Some(said) = said.1
                && order.replace((said, true)).is_some_and(|(before, explicit)| explicit && before != said)
            {
                return Err(conflict());
            }
        }
        Ok(DateFormat { style: style.unwrap_or(self.style), order: order.map_or(self.order, |(order, _)| order) })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_words_as_postgresql_takes_them() {
        // Checked against PostgreSQL 15.
        let mut format = DateFormat::ISO;
        for (list, shown) in [
            ("german", "German, DMY"),
            ("default", "ISO, MDY"),
            ("postgresql", "Postgres, MDY"),
            ("sql, european", "SQL, DMY"),
            ("us", "SQL, MDY"),
            ("German, YMD", "German, YMD"),
            ("ISO, DMY", "ISO, DMY"),
        ] {
            format = format.changed(list).unwrap();
            assert_eq!(format.name(), shown, "{list}");
        }
        assert_eq!(format.changed("dmy, iso, mdy").unwrap_err(), "Conflicting \"datestyle\" specifications.");
        assert_eq!(format.changed("foo").unwrap_err(), "Unrecognized key word: \"foo\".");
    }
}
