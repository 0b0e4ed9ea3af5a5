//! Turns words into the fields of a date and time, or of a time alone (manual, appendix B.1).

use super::Reading;
use super::fields::{Decoded, Fault, Fields, displacement, field as f, named, number};
use super::keyword::{Keyword, Unit};
use super::words::{Shape, Word};
use super::zone::ZoneName;

/// Decodes the words of a date and time. A date must be among them.
pub(super) fn decode(words: &[Word], reading: &Reading) -> Decoded<Fields> {
    let mut fields = Fields::default();
    let mut label: Option<Keyword> = None;
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        match word.shape {
            Shape::Date => match label.take() {
                Some(Keyword::Unit(Unit::Julian)) => {
                    let (day, rest) = number(text)?;
                    fields.set_julian(day);
                    fields.zone = Some(ZoneName::Fixed(displacement(rest)?));
                    fields.mark(f::DATE | f::TIME | f::ZONE)?;
                }
                Some(Keyword::Time) => fields.clock_with_zone(text, fields.seen)?,
                Some(_) => return Err(Fault::Format),
                None if fields.has(f::MONTH | f::DAY) => {
                    if text.starts_with(|c: char| c.is_ascii_digit()) {
                        fields.clock_with_zone(text, fields.seen)?;
                    } else {
                        fields.zone = Some(named(text).ok_or_else(|| Fault::Zone(text.to_string()))?);
                        fields.mark(f::ZONE)?;
                    }
                }
                None => fields.date(text, reading.order)?,
            },
            Shape::Time => {
                if !matches!(label.take(), None | Some(Keyword::Time)) {
                    return Err(Fault::Format);
                }
                fields.clock(text)?;
                if fields.overflows() {
                    return Err(Fault::Field);
                }
            }
            Shape::Zone => {
                fields.zone = Some(ZoneName::Fixed(displacement(text)?));
                fields.mark(f::ZONE)?;
            }
            Shape::Number => match label.take() {
                Some(Keyword::Unit(unit)) => fields.labelled(unit, text)?,
                Some(_) => {
                    if fields.run_together(text, fields.seen | f::DATE)? != f::TIME {
                        return Err(Fault::Format);
                    }
                }
                None => {
                    let seen = fields.seen;
                    let point = text.find('.');
                    if point.is_some() && !fields.has(f::DATE) {
                        fields.date(text, reading.order)?;
                    } else if point.is_some_and(|point| point > 2)
                        || text.len() >= 6 && (!fields.has(f::DATE) || !fields.has(f::TIME))
                    {
                        fields.run_together(text, seen)?;
                    } else {
                        fields.lone_number(text, seen, reading.order, fields.month_by_name)?;
                    }
                }
            },
            Shape::Text | Shape::Special => {
                if let Some(meaning) = fields.word(text, reading, false)? {
                    if meaning == Keyword::Time && !(fields.has(f::DATE) && time_follows(words, at)) {
                        return Err(Fault::Format);
                    }
                    label = Some(meaning);
                }
            }
        }
    }
    fields.finish()?;
    if !fields.has(f::DATE) && fields.special.is_none() { Err(Fault::Format) } else { Ok(fields) }
}

fn time_follows(words: &[Word], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| matches!(next.shape, Shape::Number | Shape::Time | Shape::Date))
}

/// Decodes the words of a time of day. A date may be present: it determines the zone's offset.
pub(super) fn decode_time(words: &[Word], reading: &Reading) -> Decoded<Fields> {
    let mut fields = Fields::default();
    let mut label: Option<Keyword> = None;
    let last_is_date = words.len() >= 2 && words.last().is_some_and(|word| word.shape == Shape::Date);
    let dated = last_is_date || words.get(1).is_some_and(|word| word.shape == Shape::Time);
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        match word.shape {
            Shape::Date if at == 0 && dated => fields.date(text, reading.order)?,
            Shape::Date if text.starts_with(|c: char| c.is_ascii_digit()) => {
                fields.clock_with_zone(text, fields.seen | f::DATE)?;
            }
            Shape::Date => {
                fields.zone = Some(named(text).ok_or_else(|| Fault::Zone(text.to_string()))?);
                fields.mark(f::ZONE)?;
            }
            Shape::Time => {
                label = None;
                fields.clock(text)?;
            }
            Shape::Zone => {
                fields.zone = Some(ZoneName::Fixed(displacement(text)?));
                fields.mark(f::ZONE)?;
            }
            Shape::Number => match label.take() {
                Some(Keyword::Unit(unit)) => fields.labelled(unit, text)?,
                Some(_) => {
                    if fields.run_together(text, fields.seen | f::DATE)? != f::TIME {
                        return Err(Fault::Format);
                    }
                }
                None => {
                    let point = text.find('.');
                    let seen = fields.seen | f::DATE;
                    if point.is_some() {
                        if at == 0 && last_is_date {
                            fields.date(text, reading.order)?;
                        } else if point.is_some_and(|point| point > 2) {
                            fields.run_together(text, seen)?;
                        } else {
                            return Err(Fault::Format);
                        }
                    } else if text.len() > 4 {
                        fields.run_together(text, seen)?;
                    } else {
                        fields.lone_number(text, seen, reading.order, false)?;
                    }
                }
            },
            Shape::Text | Shape::Special => {
                if let Some(meaning) = fields.word(text, reading, true)? {
                    if meaning == Keyword::Time && !time_follows(words, at) {
                        return Err(Fault::Format);
                    }
                    label = Some(meaning);
                }
            }
        }
    }
    fields.finish()?;
    if fields.overflows() {
        return Err(Fault::Field);
    }
    let partly = fields.seen & f::DATE != 0 && !fields.has(f::DATE);
    if partly && !matches!(fields.zone, Some(ZoneName::Fixed(_))) {
        // The zone's offset depends on the whole date, and a part is missing.
        return Err(Fault::Format);
    }
    if !fields.has(f::TIME) { Err(Fault::Format) } else { Ok(fields) }
}
