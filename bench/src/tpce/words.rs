//! Invented words, and names that consist of them.

use crate::random::{Stream, mix};

pub const FEMALE: &[&str] = &[
    "Ada", "Anna", "Berta", "Carla", "Clara", "Dina", "Edda", "Elena", "Emma", "Erika", "Flora", "Frida", "Gerda",
    "Greta", "Hanna", "Heidi", "Ida", "Inga", "Irene", "Jana", "Judith", "Karin", "Klara", "Laura", "Lena", "Lydia",
    "Maria", "Marta", "Mina", "Nadia", "Nora", "Olga", "Paula", "Petra", "Rita", "Rosa", "Sara", "Selma", "Sofia",
    "Tilda", "Ursula", "Vera", "Wanda", "Xenia", "Zita",
];

pub const MALE: &[&str] = &[
    "Adam", "Anton", "Arno", "Bruno", "Carl", "Conrad", "David", "Edgar", "Emil", "Erik", "Felix", "Frank", "Georg",
    "Gustav", "Hans", "Hugo", "Ivan", "Jakob", "Jonas", "Julius", "Karl", "Konrad", "Leo", "Louis", "Lukas", "Marius",
    "Martin", "Max", "Moritz", "Niklas", "Oskar", "Otto", "Paul", "Peter", "Philip", "Robert", "Rolf", "Rudolf",
    "Samuel", "Simon", "Theo", "Tom", "Viktor", "Walter", "Willi",
];

const FIRST: &[&str] = &[
    "Al", "Bar", "Bel", "Bern", "Bor", "Brand", "Cal", "Car", "Dal", "Dor", "Eck", "Fal", "Fer", "Gar", "Gold", "Grun",
    "Hal", "Har", "Hol", "Kal", "Kel", "Kor", "Lang", "Lin", "Lor", "Mal", "Mar", "Mer", "Nor", "Ol", "Os", "Pal",
    "Per", "Ros", "Sal", "Schon", "Sil", "Stein", "Tal", "Tor", "Val", "Vor", "Wal", "Wein", "Win", "Zell",
];

const SECOND: &[&str] = &[
    "berg", "bach", "burg", "dahl", "dorf", "er", "fels", "feld", "garth", "gren", "hart", "haus", "heim", "hold",
    "in", "kamp", "land", "low", "mann", "mark", "mond", "mund", "ner", "quist", "rich", "rup", "sen", "son", "stedt",
    "ston", "strom", "ton", "vik", "wald", "wick", "worth",
];

const STREETS: &[&str] = &[
    "Ash", "Birch", "Brook", "Castle", "Cedar", "Church", "Clover", "Dune", "Elm", "Fern", "Forest", "Garden", "Glen",
    "Harbour", "Hazel", "Hill", "Iris", "Juniper", "Lake", "Laurel", "Linden", "Maple", "Meadow", "Mill", "Oak",
    "Orchard", "Park", "Pine", "Poplar", "Quarry", "River", "Rose", "Sand", "School", "Spring", "Station", "Sun",
    "Valley", "Willow", "Wood",
];

const ROADS: &[&str] = &["Street", "Road", "Lane", "Avenue", "Way", "Place", "Court", "Row"];

const TRADES: &[&str] = &[
    "Amber", "Anchor", "Aurora", "Basalt", "Beacon", "Bright", "Cobalt", "Compass", "Copper", "Crystal", "Delta",
    "Ember", "Falcon", "Garnet", "Granite", "Harbor", "Heron", "Horizon", "Indigo", "Ivory", "Jade", "Juniper",
    "Keystone", "Lantern", "Larch", "Lotus", "Magnet", "Marble", "Meridian", "Mosaic", "North", "Nova", "Oak", "Onyx",
    "Opal", "Orbit", "Pearl", "Pioneer", "Prism", "Quartz", "Raven", "Ridge", "Sable", "Summit", "Tidal", "Timber",
    "Topaz", "Vertex", "Willow", "Zenith",
];

const BRANCHES: &[&str] = &[
    "Air",
    "Alloys",
    "Bearings",
    "Boats",
    "Books",
    "Bricks",
    "Cables",
    "Carriers",
    "Cement",
    "Ceramics",
    "Clocks",
    "Coatings",
    "Dairy",
    "Devices",
    "Dyes",
    "Engines",
    "Fabrics",
    "Farms",
    "Fibres",
    "Filters",
    "Foods",
    "Freight",
    "Gases",
    "Gears",
    "Glass",
    "Grain",
    "Harvest",
    "Hotels",
    "Instruments",
    "Labs",
    "Lenses",
    "Logistics",
    "Lumber",
    "Media",
    "Metals",
    "Mills",
    "Motors",
    "Networks",
    "Optics",
    "Paper",
    "Pipes",
    "Polymers",
    "Power",
    "Rail",
    "Sensors",
    "Ships",
    "Steel",
    "Textiles",
    "Tools",
    "Water",
];

const FORMS: &[&str] = &["Company", "Group", "Holdings", "Incorporated", "Limited", "Partners", "Union", "Works"];

const PROSE: &[&str] = &[
    "analysts",
    "and",
    "announced",
    "annual",
    "assets",
    "because",
    "board",
    "branch",
    "buyers",
    "capital",
    "chair",
    "close",
    "costs",
    "customers",
    "demand",
    "despite",
    "during",
    "earlier",
    "earnings",
    "expects",
    "figures",
    "for",
    "forecast",
    "from",
    "grew",
    "growth",
    "had",
    "holders",
    "in",
    "industry",
    "investors",
    "later",
    "less",
    "lower",
    "margin",
    "market",
    "more",
    "new",
    "of",
    "offers",
    "on",
    "orders",
    "over",
    "plans",
    "plant",
    "prices",
    "products",
    "quarter",
    "raised",
    "reports",
    "rises",
    "said",
    "sales",
    "shares",
    "since",
    "slower",
    "steady",
    "strong",
    "supply",
    "than",
    "that",
    "the",
    "this",
    "to",
    "trade",
    "under",
    "weak",
    "week",
    "while",
    "will",
    "with",
    "year",
];

fn of<'a>(list: &'a [&'a str], place: u64) -> &'a str {
    list[(place % list.len() as u64) as usize]
}

/// A random family name.
pub fn last_name(stream: &mut Stream) -> String {
    format!("{}{}", stream.pick(FIRST), stream.pick(SECOND))
}

/// The name of a town, by its number.
pub fn town(number: u64) -> String {
    format!("{}{}", of(FIRST, number), of(SECOND, number / FIRST.len() as u64 + number))
}

/// The first line of a random address.
pub fn street(stream: &mut Stream) -> String {
    format!("{} {} {}", stream.between(100, 25_000), stream.pick(STREETS), stream.pick(ROADS))
}

/// The name of a company, by its number. All names differ.
pub fn company(number: u64) -> String {
    let pairs = (TRADES.len() * BRANCHES.len()) as u64;
    // A step coprime to the number of pairs visits all pairs before any repeats.
    let pair = number.wrapping_mul(1013) % pairs;
    let base = format!("{} {}", of(TRADES, pair), of(BRANCHES, pair / TRADES.len() as u64));
    let form = of(FORMS, mix(number));
    match number / pairs {
        0 => format!("{base} {form}"),
        more => format!("{base} {} {form}", more + 1),
    }
}

/// Letters that represent a number, at least `least` letters.
pub fn letters(mut number: u64, least: usize) -> String {
    let mut text = Vec::new();
    while number > 0 || text.len() < least {
        text.push(b'A' + u8::try_from(number % 26).unwrap_or(0));
        number /= 26;
    }
    text.reverse();
    text.into_iter().map(char::from).collect()
}

/// Prose of nearly `bytes` bytes, never more.
pub fn prose(stream: &mut Stream, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    loop {
        let word = stream.pick(PROSE);
        if text.len() + word.len() + 2 > bytes {
            text.push('.');
            return text;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_have_names_of_their_own() {
        let names: std::collections::HashSet<String> = (0..20_000).map(company).collect();
        assert_eq!(names.len(), 20_000);
        assert!(names.iter().all(|name| name.len() <= 47));
    }

    #[test]
    fn prose_keeps_its_length() {
        let mut stream = Stream::of(1, 1, 1);
        for bytes in [20, 80, 255, 5000] {
            let text = prose(&mut stream, bytes);
            assert!(text.len() <= bytes && text.len() + 14 > bytes, "{text}");
        }
    }
}
