//! [`Ctype`]: which characters are letters and blanks, and what their cases are, by the LC_CTYPE of a database.

/// How characters are classified. One database has one, for as long as it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ctype {
    /// `C`: characters beyond ASCII are in no class and have no case.
    Ascii,
    /// `C.UTF-8`: as Unicode has it.
    Unicode,
}

impl Ctype {
    /// The one that a locale names.
    pub fn of_locale(locale: &str) -> Ctype {
        if matches!(locale, "C" | "POSIX") { Ctype::Ascii } else { Ctype::Unicode }
    }
    /// Whether a character may be in a class.
    fn classifies(self, c: char) -> bool {
        self == Ctype::Unicode || c.is_ascii()
    }
    /// Whether a character is a letter.
    pub fn is_alphabetic(self, c: char) -> bool {
        self.classifies(c) && c.is_alphabetic()
    }
    /// Whether a character is a letter or a digit.
    pub fn is_alphanumeric(self, c: char) -> bool {
        self.classifies(c) && c.is_alphanumeric()
    }
    /// Whether a character is white space.
    pub fn is_whitespace(self, c: char) -> bool {
        self.classifies(c) && c.is_whitespace()
    }
    /// The one capital letter of a letter, as C's `towupper` has it: letters without one (`ß`) stay.
    pub fn upper(self, c: char) -> char {
        match self {
            Ctype::Ascii => c.to_ascii_uppercase(),
            Ctype::Unicode => unicode_upper(c),
        }
    }
    /// The one small letter of a letter, as C's `towlower` has it, wherever in a word it stands.
    pub fn lower(self, c: char) -> char {
        match self {
            Ctype::Ascii => c.to_ascii_lowercase(),
            Ctype::Unicode => c.to_lowercase().next().unwrap_or(c),
        }
    }
}

fn unicode_upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next(), c) {
        (Some(one), None, _) => one,
        // Greek with iota below has capitals of its own, which the full mapping writes as two letters.
        (_, _, '\u{1f80}'..='\u{1faf}') => char::from_u32(u32::from(c) | 8).unwrap_or(c),
        (_, _, '\u{1fb3}') => '\u{1fbc}',
        (_, _, '\u{1fc3}') => '\u{1fcc}',
        (_, _, '\u{1ff3}') => '\u{1ffc}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_one_capital_and_one_small_letter() {
        // As PostgreSQL 15 answers.
        let upper = |ctype: Ctype| "straße ǰ ᾳé".chars().map(|c| ctype.upper(c)).collect::<String>();
        assert_eq!(upper(Ctype::Unicode), "STRAßE ǰ ᾼÉ");
        assert_eq!(upper(Ctype::Ascii), "STRAßE ǰ ᾳé");
        let lower = |ctype: Ctype| "ΣΑΣ İ AÉ".chars().map(|c| ctype.lower(c)).collect::<String>();
        assert_eq!(lower(Ctype::Unicode), "σασ i aé");
        assert_eq!(lower(Ctype::Ascii), "ΣΑΣ İ aÉ");
    }

    #[test]
    fn a_locale_names_its_letters() {
        let of = |locale: &str| Ctype::of_locale(locale);
        assert_eq!(["C", "POSIX"].map(of), [Ctype::Ascii; 2]);
        assert_eq!(["C.UTF-8", "C.utf8"].map(of), [Ctype::Unicode; 2]);
        assert!(
            Ctype::Unicode.is_alphabetic('é') && !Ctype::Ascii.is_alphabetic('é') && Ctype::Ascii.is_alphabetic('e')
        );
        assert!(Ctype::Unicode.is_whitespace('\u{2003}') && !Ctype::Ascii.is_whitespace('\u{2003}'));
        assert!(Ctype::Ascii.is_alphanumeric('7') && !Ctype::Ascii.is_alphanumeric('٣'));
    }
}
