//! Plots as SVG: lines over seconds, and bars.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 28.0;

/// A line: its name, its style class, and one value per step.
pub struct Line<'a> {
    pub name: &'a str,
    pub class: &'a str,
    pub values: Vec<f64>,
}

/// A step of 1, 2 or 5 times a power of ten. About four steps reach the greatest value.
fn step(greatest: f64) -> f64 {
    let rough = (greatest / 4.0).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough).unwrap_or(power)
}

/// Formats a number without needless digits.
pub fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 10_000.0 => format!("{:.0}k", value / 1000.0),
        whole if whole >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        small if small >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Draws lines over the seconds of a run.
pub fn lines(lines: &[Line<'_>]) -> String {
    let count = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let greatest = lines.iter().flat_map(|line| line.values.iter().copied()).fold(0.0, f64::max).max(1e-9);
    let step = step(greatest);
    let top = (greatest / step).ceil() * step;
    let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let x = |place: usize| LEFT + width * place as f64 / count.saturating_sub(1).max(1) as f64;
    let y = |value: f64| TOP + height * (1.0 - value / top);
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    let mut value = 0.0;
    while value <= top + step / 2.0 {
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/><text class=\"axis\" x=\"{2}\" y=\"{3:.1}\" \
             text-anchor=\"end\">{4}</text>",
            WIDTH - RIGHT,
            y(value),
            LEFT - 8.0,
            y(value) + 4.0,
            short(value)
        );
        value += step;
    }
    let seconds = (count / 8).max(1);
    for place in (0..count).step_by(seconds) {
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{} s</text>",
            x(place),
            HEIGHT - 8.0,
            place + 1
        );
    }
    for line in lines {
        let points: Vec<String> =
            line.values.iter().enumerate().map(|(place, value)| format!("{:.1},{:.1}", x(place), y(*value))).collect();
        let _ = write!(
            svg,
            "<polyline class=\"line {}\" points=\"{}\"><title>{}</title></polyline>",
            line.class,
            points.join(" "),
            line.name
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A row of bars: its name, and values with a style class each. Every bar starts at the row's start.
pub struct Bars<'a> {
    pub name: &'a str,
    pub values: Vec<(&'a str, f64)>,
    pub says: String,
}

/// Draws rows of bars, longer bars behind shorter ones. The scale is logarithmic on request.
pub fn bars(rows: &[Bars<'_>], logarithmic: bool) -> String {
    const ROW: f64 = 26.0;
    const NAME: f64 = 150.0;
    const SAYS: f64 = 190.0;
    let values = || rows.iter().flat_map(|row| row.values.iter().map(|(_, value)| *value)).filter(|value| *value > 0.0);
    let greatest = values().fold(0.0, f64::max).max(1e-9);
    let least = if logarithmic { values().fold(f64::INFINITY, f64::min).min(greatest) / 2.0 } else { 0.0 };
    let width = WIDTH - NAME - SAYS;
    let length = |value: f64| match logarithmic {
        true if value > 0.0 => width * (value / least).ln() / (greatest / least).ln().max(1e-9),
        true => 0.0,
        false => width * value / greatest,
    };
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\">", ROW * rows.len() as f64);
    for (place, row) in rows.iter().enumerate() {
        let y = ROW * place as f64;
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            NAME - 10.0,
            y + 17.0,
            row.name
        );
        let mut values = row.values.clone();
        values.sort_by(|one, other| other.1.total_cmp(&one.1));
        for (class, value) in values {
            let _ = write!(
                svg,
                "<rect class=\"bar {class}\" x=\"{NAME}\" y=\"{}\" width=\"{:.1}\" height=\"16\" rx=\"3\"/>",
                y + 4.0,
                length(value).max(0.0)
            );
        }
        let _ =
            write!(svg, "<text class=\"says\" x=\"{}\" y=\"{}\">{}</text>", WIDTH - SAYS + 10.0, y + 17.0, row.says);
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(step(4.0), 1.0);
        assert_eq!(step(70.0), 20.0);
        assert_eq!(step(0.9), 0.5);
        assert_eq!(short(12_345.0), "12k");
    }

    #[test]
    fn plots_of_nothing_are_drawn() {
        assert!(lines(&[Line { name: "a", class: "b", values: vec![] }]).ends_with("</svg>"));
        assert!(bars(&[Bars { name: "a", values: vec![("b", 0.0)], says: String::new() }], true).ends_with("</svg>"));
    }
}
