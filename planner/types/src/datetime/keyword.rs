//! The words that date and time input accepts, apart from zones.

/// A unit that a letter announces, as in `y2001m02d04`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Julian,
    /// A unit that only `extract` accepts.
    Other,
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Infinity,
    NegativeInfinity,
    Epoch,
    Now,
    Today,
    Tomorrow,
    Yesterday,
    /// `allballs`: midnight in UTC.
    AllBalls,
    Month(i64),
    DayOfWeek,
    /// AM or PM: `true` is afternoon.
    HalfDay(bool),
    /// AD or BC: `true` is BC.
    Era(bool),
    Unit(Unit),
    /// `t`, which precedes a time.
    Time,
    /// `dst`, which follows a zone.
    Summer,
    Ignored,
}

/// Looks up a lower-case word.
pub(super) fn keyword(word: &str) -> Option<Keyword> {
    use Keyword as K;
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    Some(match word {
        "infinity" => K::Infinity,
        "-infinity" => K::NegativeInfinity,
        "epoch" => K::Epoch,
        "now" => K::Now,
        "today" => K::Today,
        "tomorrow" => K::Tomorrow,
        "yesterday" => K::Yesterday,
        "allballs" => K::AllBalls,
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds" | "wednesday" | "thu"
        | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat" | "saturday" => K::DayOfWeek,
        "am" => K::HalfDay(false),
        "pm" => K::HalfDay(true),
        "bc" => K::Era(true),
        "ad" => K::Era(false),
        "y" => K::Unit(Unit::Year),
        "m" => K::Unit(Unit::Month),
        "d" => K::Unit(Unit::Day),
        "h" => K::Unit(Unit::Hour),
        "mm" => K::Unit(Unit::Minute),
        "s" => K::Unit(Unit::Second),
        "j" | "jd" | "julian" => K::Unit(Unit::Julian),
        "dow" | "doy" | "isodow" | "isoyear" => K::Unit(Unit::Other),
        "t" => K::Time,
        "dst" => K::Summer,
        "at" | "on" => K::Ignored,
        "sept" => K::Month(9),
        _ => {
            let found = |name: &&str| **name == *word || (word.len() == 3 && name.starts_with(word));
            K::Month(MONTHS.iter().position(found)? as i64 + 1)
        }
    })
}
