//! What the text forms of values depend on, taken from settings.

use crate::Settings;
use types::interval::Style;
use types::text::{InputContext, Moment, ObjectNames, OutputContext};

impl Settings {
    /// For text input. `now`: the start of the transaction. Without `names`, objects are known by their numbers alone.
    pub fn text_input<'a>(&'a self, names: Option<&'a dyn ObjectNames>, now: Moment<'a>) -> InputContext<'a> {
        InputContext {
            time_zone: self.time_zone(),
            now,
            date_order: self.date_format().order,
            one_sign: self.interval_style() == Style::SqlStandard,
            names,
            search_path: self.search_path(),
        }
    }
    /// For text output. Without `names`, objects are written as their numbers.
    pub fn text_output<'a>(&'a self, names: Option<&'a dyn ObjectNames>) -> OutputContext<'a> {
        OutputContext {
            time_zone: self.time_zone(),
            names,
            search_path: self.search_path(),
            interval_style: self.interval_style(),
            date_format: self.date_format(),
            float_digits: self.extra_float_digits(),
            bytea_escape: self.bytea_escape(),
        }
    }
}
