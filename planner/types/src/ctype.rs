//! [`Ctype`]: character classes and letter case by a database's LC_CTYPE.

/// How characters are classified. A database keeps its `Ctype` for its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ctype {
    /// The locale `C`: characters beyond ASCII are in no class and have no case.
    Ascii,
    /// The locale `C.UTF-8`: classes and cases follow Unicode.
    Unicode,
}

impl Ctype {
    /// The classification of the locale named `locale`.
    pub fn of_locale(locale: &str) -> Ctype {
        if matches!(locale, "C" | "POSIX") { Ctype::Ascii } else { Ctype::Unicode }
    }
    /// Whether a character can be in any class.
    fn classifies(self, c: char) -> bool {
        self == Ctype::Unicode || c.is_ascii()
    }
    /// Whether the character is a letter.
    pub fn is_alphabetic(self, c: char) -> bool {
        self.classifies(c) && c.is_alphabetic()
    }
    /// Whether the character is a letter or a digit.
    pub fn is_alphanumeric(self, c: char) -> bool {
        self.classifies(c) && c.is_alphanumeric()
    }
    /// Whether the character is white space.
    pub fn is_whitespace(self, c: char) -> bool {
        self.classifies(c) && c.is_whitespace()
    }
    /// The upper-case letter, as C's `towupper` gives it. Letters without a single one (`ß`) stay.
    pub fn upper(self, c: char) -> char {
        match self {
            Ctype::Ascii => c.to_ascii_uppercase(),
            Ctype::Unicode => unicode_upper(c),
        }
    }
    /// The lower-case letter, as C's `towlower` gives it: it does not depend on the position in the word.
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
        // Greek letters with iota subscript have title-case letters of their own. Full case mapping would write two
        // letters.
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
        // PostgreSQL 15 gives the same answers.
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
