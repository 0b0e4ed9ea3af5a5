//! Evaluates jsonpath expressions (manual, 9.16.2).

use super::path_id;
use super::path_time::Moment;
use super::path_value::Json;
use sql_error::{Result, SqlError, state};
use std::cmp::Ordering;
use std::rc::Rc;
use types::Ctype;
use types::datetime::TimeZone;
use types::jsonpath::{Item, Method, Node, Operator, Path, Step};
use types::numeric::Numeric;

/// Why an evaluation ends early.
enum Stop {
    /// An error that `silent` suppresses. It makes a predicate unknown.
    Soft(SqlError),
    /// An error that `silent` does not suppress.
    Hard(SqlError),
    /// One item was found, which is enough.
    Found,
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Stop::Hard(error)
    }
}

/// Number of ids per base value: an object's id is its base's number times this, plus its own.
const OBJECTS: i64 = 10_000_000_000;

type Walk<T> = std::result::Result<T, Stop>;

/// An evaluation in progress.
pub(super) struct Walker<'a> {
    strict: bool,
    variables: &'a Json,
    root: Json,
    /// The session's zone. `None` if comparisons must not use it.
    zone: Option<TimeZone>,
    /// The character classification for like_regex.
    ctype: Ctype,
    /// The value of `@`.
    current: Json,
    /// The base value of object ids, and the base's number.
    base: (Json, i64),
    /// The number of the next object that is created.
    next_made: i64,
    /// The value of `last`: one less than the length of the subscripted array.
    last: Option<i64>,
    /// Whether missing members are ignored, as in lax mode.
    forgiving: bool,
    /// Whether errors end the evaluation. They do not under `silent` and within a predicate.
    throwing: bool,
}

fn soft<T>(sqlstate: &'static str, message: impl Into<String>) -> Walk<T> {
    Err(Stop::Soft(SqlError::new(sqlstate, message.into())))
}

/// The items found, and whether the first one is enough.
struct Found {
    items: Vec<Json>,
    first: bool,
}

impl Found {
    fn all() -> Self {
        Found { items: Vec::new(), first: false }
    }
    fn push(&mut self, item: Json) -> Walk<()> {
        self.items.push(item);
        if self.first { Err(Stop::Found) } else { Ok(()) }
    }
}

fn unwrapped(items: Vec<Json>) -> Vec<Json> {
    items
        .into_iter()
        .flat_map(|item| match &item {
            Json::Array(elements) => elements.to_vec(),
            _ => vec![item],
        })
        .collect()
}

/// The items that a path found.
pub(super) struct Items {
    /// The items up to an error, if there was one.
    pub(super) items: Vec<Json>,
    /// The error, if `silent` suppresses it.
    pub(super) error: Option<SqlError>,
}

/// Finds all items of a path. `first` stops at one item if that decides the answer. `silent` returns the items before
/// an error. Errors: those that `silent` does not suppress.
pub(super) fn follow(
    path: &Path,
    target: Json,
    variables: &Json,
    zone: Option<TimeZone>,
    ctype: Ctype,
    (first, silent): (bool, bool),
) -> Result<Items> {
    if !matches!(variables, Json::Object(_)) {
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
            .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
    }
    let mut walker = Walker {
        strict: path.strict,
        variables,
        current: target.clone(),
        base: (target.clone(), 0),
        // The numbers 0 and 1 belong to the value itself and to the variables.
        next_made: 2,
        root: target,
        zone,
        ctype,
        last: None,
        forgiving: !path.strict,
        throwing: !silent,
    };
    // In strict mode all items are visited, so that errors are found.
    let mut found = Found { items: Vec::new(), first: first && !path.strict };
    let error = match walker.item(&path.root, &mut found) {
        Ok(()) | Err(Stop::Found) => None,
        Err(Stop::Soft(error)) => Some(error),
        Err(Stop::Hard(error)) => return Err(error),
    };
    Ok(Items { items: found.items, error })
}

impl Walker<'_> {
    fn item(&mut self, item: &Item, found: &mut Found) -> Walk<()> {
        let value = match &item.node {
            Node::Null => Json::Null,
            Node::Bool(value) => Json::Bool(*value),
            Node::Number(digits) => Json::Number(Numeric::parse(digits)?),
            Node::String(text) => Json::String(text.as_str().into()),
            Node::Root => self.root.clone(),
            Node::Current => self.current.clone(),
            Node::Last => match self.last {
                Some(last) => Json::Number(Numeric::from(last)),
                None => return Err(Stop::Hard(SqlError::internal("last outside of subscripts"))),
            },
            Node::Variable(name) => self.variable(name)?,
            Node::Binary(operator, left, right) if !item.node.is_predicate() => {
                self.arithmetic(*operator, left, right)?
            }
            Node::Sign(negative, inner) => {
                // The existence of an item decides, even if other items are not numbers.
                let lenient = found.first && item.steps.is_empty();
                for value in self.operand(inner)? {
                    let Json::Number(number) = value else {
                        if lenient {
                            continue;
                        }
                        let sign = if *negative { "-" } else { "+" };
                        return soft(
                            "2203B",
                            format!("operand of unary jsonpath operator {sign} is not a numeric value"),
                        );
                    };
                    let number = if *negative { number.neg() } else { number };
                    self.steps(&item.steps, Json::Number(number), found, true)?;
                }
                return Ok(());
            }
            _ => match self.holds(item)? {
                Some(value) => Json::Bool(value),
                None => Json::Null,
            },
        };
        let base = match &item.node {
            Node::Root => Some((self.root.clone(), 0)),
            Node::Variable(_) => Some((self.variables.clone(), 1)),
            _ => None,
        };
        match base {
            Some(base) => self.within(base, |walker| walker.steps(&item.steps, value, found, true)),
            None => self.steps(&item.steps, value, found, true),
        }
    }

    /// Continues with another base value of object ids.
    fn within(&mut self, base: (Json, i64), go: impl FnOnce(&mut Self) -> Walk<()>) -> Walk<()> {
        let before = std::mem::replace(&mut self.base, base);
        let result = go(self);
        self.base = before;
        result
    }

    /// Continues with errors that do not end the evaluation.
    fn quietly<T>(&mut self, go: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.throwing, false);
        let result = go(self);
        self.throwing = before;
        result
    }

    fn variable(&self, name: &str) -> Walk<Json> {
        let found = match self.variables {
            Json::Object(pairs) => pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
            _ => None,
        };
        found.ok_or_else(|| {
            let message = format!("could not find jsonpath variable \"{name}\"");
            Stop::Hard(SqlError::new(state::UNDEFINED_OBJECT, message))
        })
    }

    /// The values of an operand. In lax mode, arrays among them are unwrapped.
    fn operand(&mut self, item: &Item) -> Walk<Vec<Json>> {
        let mut found = Found::all();
        self.item(item, &mut found)?;
        Ok(if self.strict { found.items } else { unwrapped(found.items) })
    }

    fn arithmetic(&mut self, operator: Operator, left: &Item, right: &Item) -> Walk<Json> {
        // Evaluate both before checking either: an error of the right operand comes first.
        let (left, right) = (self.operand(left)?, self.operand(right)?);
        let mut numbers = Vec::with_capacity(2);
        for (side, values) in [("left", left), ("right", right)] {
            match values.as_slice() {
                [Json::Number(number)] => numbers.push(number.clone()),
                _ => {
                    let symbol = operator.symbol();
                    let message = format!("{side} operand of jsonpath operator {symbol} is not a single numeric value");
                    return soft("22038", message);
                }
            }
        }
        let [left, right] = numbers.as_slice() else {
            return Err(Stop::Hard(SqlError::internal("an operator without operands")));
        };
        let result = match operator {
            Operator::Add => Ok(left.add(right)),
            Operator::Subtract => Ok(left.sub(right)),
            Operator::Multiply => Ok(left.mul(right)),
            Operator::Divide => left.div(right),
            _ => left.rem(right),
        };
        result.map(Json::Number).map_err(Stop::Soft)
    }

    /// Applies the accessors to a value. `unwrap` says whether the first accessor may unwrap an array.
    fn steps(&mut self, steps: &[Step], value: Json, found: &mut Found, unwrap: bool) -> Walk<()> {
        let Some((step, rest)) = steps.split_first() else { return found.push(value) };
        let unwrap = unwrap && !self.strict;
        // Accessors of objects or scalars apply to each element of an array.
        let each = |step: &Step| match step {
            Step::Key(_) | Step::AnyKey | Step::Filter(_) | Step::Datetime(_) => true,
            Step::Method(method) => !matches!(method, Method::Type | Method::Size),
            _ => false,
        };
        if let (true, true, Json::Array(elements)) = (unwrap, each(step), &value) {
            for element in elements.iter() {
                self.steps(steps, element.clone(), found, false)?;
            }
            return Ok(());
        }
        match step {
            Step::Key(key) => match &value {
                Json::Object(pairs) => match pairs.iter().find(|(name, _)| name == key) {
                    Some((_, member)) => self.steps(rest, member.clone(), found, true),
                    None if self.forgiving => Ok(()),
                    None => soft("2203A", format!("JSON object does not contain key \"{key}\"")),
                },
                _ if self.forgiving => Ok(()),
                _ => soft("2203A", "jsonpath member accessor can only be applied to an object"),
            },
            Step::AnyKey => match &value {
                Json::Object(pairs) => {
                    pairs.iter().try_for_each(|(_, member)| self.steps(rest, member.clone(), found, true))
                }
                _ if self.forgiving => Ok(()),
                _ => soft("2203C", "jsonpath wildcard member accessor can only be applied to an object"),
            },
            Step::AnyElement => match &value {
                Json::Array(elements) => {
                    elements.iter().try_for_each(|element| self.steps(rest, element.clone(), found, true))
                }
                _ if !self.strict => self.steps(rest, value, found, true),
                _ if self.forgiving => Ok(()),
                _ => soft("22039", "jsonpath wildcard array accessor can only be applied to an array"),
            },
            Step::Elements(subscripts) => self.elements(subscripts, rest, value, found),
            Step::Levels(first, last) => {
                if *first == 0 {
                    let before = std::mem::replace(&mut self.forgiving, true);
                    let result = self.steps(rest, value.clone(), found, true);
                    self.forgiving = before;
                    match result {
                        // The levels below are visited anyway.
                        Err(Stop::Soft(_)) if !self.throwing && value.is_container() => {}
                        result => result?,
                    }
                }
                self.levels(rest, &value, found, 1, (*first, *last))
            }
            Step::Filter(predicate) => {
                let before = std::mem::replace(&mut self.current, value.clone());
                let holds = self.holds(predicate);
                self.current = before;
                if holds? == Some(true) { self.steps(rest, value, found, true) } else { Ok(()) }
            }
            Step::Method(Method::KeyValue) => self.key_values(rest, value, found),
            Step::Method(Method::Size) if self.strict && self.forgiving && !matches!(value, Json::Array(_)) => Ok(()),
            Step::Method(method) => {
                let value = self.method(*method, &value)?;
                self.steps(rest, value, found, true)
            }
            Step::Datetime(template) => {
                let value = datetime(&value, template.as_deref())?;
                self.steps(rest, value, found, true)
            }
        }
    }

    fn levels(&mut self, rest: &[Step], value: &Json, found: &mut Found, level: u32, range: (u32, u32)) -> Walk<()> {
        let (first, last) = range;
        for inner in value.inner() {
            let leaf = first == u32::MAX && last == u32::MAX && !inner.is_container();
            if level >= first || leaf {
                let before = std::mem::replace(&mut self.forgiving, true);
                let result = self.steps(rest, inner.clone(), found, true);
                self.forgiving = before;
                result?;
            }
            if level < last {
                self.levels(rest, &inner, found, level + 1, range)?;
            }
        }
        Ok(())
    }

    fn subscript(&mut self, item: &Item) -> Walk<i64> {
        let mut found = Found::all();
        self.item(item, &mut found)?;
        match found.items.as_slice() {
            [Json::Number(number)] => {
                let place = number.trunc(0).to_i64("integer").ok();
                match place.filter(|place| i32::try_from(*place).is_ok()) {
                    Some(place) => Ok(place),
                    None => soft("22033", "jsonpath array subscript is out of integer range"),
                }
            }
            _ => soft("22033", "jsonpath array subscript is not a single numeric value"),
        }
    }

    fn elements(
        &mut self,
        subscripts: &[(Item, Option<Item>)],
        rest: &[Step],
        value: Json,
        found: &mut Found,
    ) -> Walk<()> {
        let elements = match &value {
            Json::Array(elements) => Rc::clone(elements),
            _ if !self.strict => Rc::new(vec![value]),
            _ if self.forgiving => return Ok(()),
            _ => return soft("22039", "jsonpath array accessor can only be applied to an array"),
        };
        let size = elements.len() as i64;
        for (from, to) in subscripts {
            let before = self.last.replace(size - 1);
            let bounds = self.subscript(from).and_then(|from| match to {
                Some(to) => self.subscript(to).map(|to| (from, to)),
                None => Ok((from, from)),
            });
            self.last = before;
            let (from, to) = bounds?;
            if !self.forgiving && (from < 0 || from > to || to >= size) {
                return soft("22033", "jsonpath array subscript is out of bounds");
            }
            for place in from.max(0)..=to.min(size - 1) {
                if let Some(element) = elements.get(place as usize) {
                    self.steps(rest, element.clone(), found, true)?;
                }
            }
        }
        Ok(())
    }

    fn key_values(&mut self, rest: &[Step], value: Json, found: &mut Found) -> Walk<()> {
        let Json::Object(pairs) = &value else {
            return soft("2203C", "jsonpath item method .keyvalue() can only be applied to an object");
        };
        let (base, number) = &self.base;
        let id = number * OBJECTS + path_id::place(base, pairs);
        for (key, member) in pairs.iter() {
            let pair = vec![
                ("id".to_string(), Json::Number(Numeric::from(id))),
                ("key".to_string(), Json::String(key.as_str().into())),
                ("value".to_string(), member.clone()),
            ];
            let pair = Json::Object(Rc::new(pair));
            let number = self.next_made;
            self.next_made += 1;
            self.within((pair.clone(), number), |walker| walker.steps(rest, pair, found, true))?;
        }
        Ok(())
    }

    fn method(&self, method: Method, value: &Json) -> Walk<Json> {
        Ok(match method {
            Method::Type => Json::String(value.type_name().into()),
            Method::Size => match value {
                Json::Array(elements) => Json::Number(Numeric::from(elements.len() as i64)),
                _ if !self.strict => Json::Number(Numeric::from(1)),
                _ => return soft("22039", "jsonpath item method .size() can only be applied to an array"),
            },
            Method::Double => double(value)?,
            _ => {
                let Json::Number(number) = value else {
                    let name = method.name();
                    let message = format!("jsonpath item method .{name}() can only be applied to a numeric value");
                    return soft("22036", message);
                };
                Json::Number(match method {
                    Method::Abs => number.abs(),
                    Method::Floor => number.floor(),
                    _ => number.ceil(),
                })
            }
        })
    }

    /// Whether a predicate holds. `None` if that is unknown.
    fn holds(&mut self, item: &Item) -> Walk<Option<bool>> {
        match &item.node {
            Node::Binary(Operator::And, left, right) => {
                let left = self.holds(left)?;
                if left == Some(false) {
                    return Ok(left);
                }
                let right = self.holds(right)?;
                Ok(if right == Some(true) { left } else { right })
            }
            Node::Binary(Operator::Or, left, right) => {
                let left = self.holds(left)?;
                if left == Some(true) {
                    return Ok(left);
                }
                let right = self.holds(right)?;
                Ok(if right == Some(false) { left } else { right })
            }
            Node::Not(inner) => Ok(self.holds(inner)?.map(|holds| !holds)),
            Node::IsUnknown(inner) => Ok(Some(self.holds(inner)?.is_none())),
            Node::Exists(inner) => {
                let mut found = Found { items: Vec::new(), first: !self.strict };
                match self.quietly(|walker| walker.item(inner, &mut found)) {
                    Ok(()) | Err(Stop::Found) => Ok(Some(!found.items.is_empty())),
                    Err(Stop::Soft(_)) => Ok(None),
                    Err(hard) => Err(hard),
                }
            }
            Node::Binary(operator, left, right) => {
                let operator = *operator;
                let zone = self.zone;
                self.pairs(left, Some(right), |left, right| compare(operator, left, right, zone))
            }
            Node::StartsWith(whole, initial) => {
                self.pairs(whole, Some(initial), |whole, initial| match (whole, initial) {
                    (Json::String(whole), Json::String(initial)) => Ok(Some(whole.starts_with(initial.as_ref()))),
                    _ => Ok(None),
                })
            }
            Node::LikeRegex(text, pattern, flags) => {
                let pattern = flags.compile(pattern, self.ctype)?;
                self.pairs(text, None, |text, _| match text {
                    Json::String(text) => Ok(Some(pattern.is_match(text)?)),
                    _ => Ok(None),
                })
            }
            _ => Err(Stop::Hard(SqlError::internal("a value as a predicate"))),
        }
    }

    /// Whether a test holds for any pair of values. In lax mode, the first pair that is true or unknown decides.
    fn pairs(
        &mut self,
        left: &Item,
        right: Option<&Item>,
        test: impl Fn(&Json, &Json) -> Walk<Option<bool>>,
    ) -> Walk<Option<bool>> {
        let mut sides = Vec::with_capacity(2);
        for side in [Some(left), right].into_iter().flatten() {
            match self.quietly(|walker| walker.operand(side)) {
                Ok(values) => sides.push(values),
                Err(Stop::Soft(_)) => return Ok(None),
                Err(stop) => return Err(stop),
            }
        }
        let nothing = vec![Json::Null];
        let left = sides.first().unwrap_or(&nothing);
        let right = if right.is_some() { sides.get(1).unwrap_or(&nothing) } else { &nothing };
        let (mut unknown, mut holds) = (false, false);
        for left in left {
            for right in right {
                match test(left, right) {
                    Ok(None) | Err(Stop::Soft(_)) => {
                        if self.strict {
                            return Ok(None);
                        }
                        unknown = true;
                    }
                    Ok(Some(true)) => {
                        if !self.strict {
                            return Ok(Some(true));
                        }
                        holds = true;
                    }
                    Ok(Some(false)) => {}
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(if holds { Some(true) } else { (!unknown).then_some(false) })
    }
}

fn compare(operator: Operator, left: &Json, right: &Json, zone: Option<TimeZone>) -> Walk<Option<bool>> {
    let order = match (left, right) {
        (Json::Null, Json::Null) => Ordering::Equal,
        // null equals only null, and is neither less nor greater than other values.
        (Json::Null, _) | (_, Json::Null) => return Ok(Some(operator == Operator::NotEqual)),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Moment(a), Json::Moment(b)) => match a.compare(b, zone)? {
            Some(order) => order,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn double(value: &Json) -> Walk<Json> {
    let text = match value {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.to_string(),
        _ => {
            return soft("22036", "jsonpath item method .double() can only be applied to a string or numeric value");
        }
    };
    match types::text::parse_float8(&text) {
        Ok(float) if float.is_finite() => Ok(Json::Number(match value {
            Json::Number(number) => number.clone(),
            _ => Numeric::from_f64(float),
        })),
        Ok(_) => soft("22036", "NaN or Infinity is not allowed for jsonpath item method .double()"),
        Err(_) if matches!(value, Json::Number(_)) => soft(
            "22036",
            "numeric argument of jsonpath item method .double() is out of range for type double precision",
        ),
        Err(_) => soft(
            "22036",
            "string argument of jsonpath item method .double() is not a valid representation of a double precision number",
        ),
    }
}

fn datetime(value: &Json, template: Option<&str>) -> Walk<Json> {
    let Json::String(text) = value else {
        return soft("22031", "jsonpath item method .datetime() can only be applied to a string");
    };
    if let Some(template) = template {
        return Moment::by_template(text, template).map(Json::Moment).map_err(Stop::Soft);
    }
    match Moment::read(text) {
        Some(moment) => Ok(Json::Moment(moment)),
        None => Err(Stop::Soft(
            SqlError::new("22031", format!("datetime format is not recognized: \"{text}\""))
                .hint("Use a datetime template argument to specify the input data format."),
        )),
    }
}
