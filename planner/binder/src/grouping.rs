//! GROUP BY: its items as keys and grouping sets. `aggregate` computes the groups.

use super::binder::Binder;
use super::call::{has_aggregate, has_window};
use super::error_position::{place_of, written_place};
use super::expression::{Clause, Env};
use super::order::{OrderTarget, plain_name};
use super::select::Item;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use syntax::Span;
use syntax::ast::{self, ExprKind, GroupItem};

/// PostgreSQL's limit on grouping sets.
const SETS_AT_MOST: usize = 4096;
const CUBE_AT_MOST: usize = 12;

/// The keys and grouping sets of a query.
#[derive(Clone, Debug)]
pub struct GroupBy {
    /// The distinct keys of all sets.
    pub keys: Vec<TypedExpr>,
    /// The keys of each grouping set, as ascending distinct positions. Never empty: a query without GROUPING SETS,
    /// ROLLUP or CUBE has one set with all keys.
    pub sets: Vec<Vec<usize>>,
}

impl Default for GroupBy {
    fn default() -> Self {
        GroupBy { keys: Vec::new(), sets: vec![Vec::new()] }
    }
}

impl GroupBy {
    /// The keys that every set contains.
    pub fn common(&self) -> Vec<TypedExpr> {
        let everywhere = |place: &usize| self.sets.iter().all(|set| set.contains(place));
        let keys = self.keys.iter().enumerate();
        keys.filter(|(place, _)| everywhere(place)).map(|(_, key)| key.clone()).collect()
    }
}

/// The state while GROUP BY is bound.
struct Items<'i, 's> {
    items: &'i [Item],
    list: &'i [ast::Target],
    names: Vec<String>,
    env: Env<'s>,
    keys: Vec<TypedExpr>,
    /// The position of the select item that each key is, if it is one.
    places: Vec<Option<usize>>,
}

impl Items<'_, '_> {
    /// Merges keys with equal expressions.
    fn unite(&mut self, sets: &mut [Vec<usize>]) {
        let first = |key: &TypedExpr| self.keys.iter().position(|other| other.expr == key.expr).unwrap_or_default();
        let firsts: Vec<usize> = self.keys.iter().map(first).collect();
        let kept: Vec<usize> = (0..firsts.len()).filter(|at| firsts.get(*at) == Some(at)).collect();
        for place in sets.iter_mut().flatten() {
            let first = firsts.get(*place).copied().unwrap_or_default();
            *place = kept.iter().position(|at| *at == first).unwrap_or_default();
        }
        sets.iter_mut().for_each(|set| *set = union(set, &[]));
        self.keys = kept.iter().filter_map(|at| self.keys.get(*at).cloned()).collect();
    }

    /// Gives each key whose expression repeats a previous one another form. Its select item must use that form.
    fn tell_apart(&mut self) -> Vec<(usize, TypedExpr)> {
        let mut renamed = Vec::new();
        for at in 1..self.keys.len() {
            let (before, rest) = self.keys.split_at_mut(at);
            if let (Some(key), Some(Some(place))) = (rest.first_mut(), self.places.get(at))
                && before.iter().any(|other| other.expr == key.expr)
            {
                key.expr = key.expr.clone().alias(format!("key {at}"));
                renamed.push((*place, key.clone()));
            }
        }
        renamed
    }
}

impl Binder<'_> {
    /// Binds GROUP BY. `None` without one. If grouping sets contain an expression as several select items, each of
    /// these items is a key of its own.
    pub fn group_by(
        &self,
        group_by: Option<&ast::GroupBy>,
        items: &mut [Item],
        list: &[ast::Target],
        env: Env<'_>,
    ) -> Result<Option<GroupBy>> {
        let Some(written) = group_by else { return Ok(None) };
        let names = items.iter().map(|item| item.name.clone()).collect();
        let env = env.within(Clause::GroupBy);
        let mut found = Items { items, list, names, env, keys: Vec::new(), places: Vec::new() };
        let mut sets = vec![Vec::new()];
        for item in &written.items {
            let more = self.grouping_item(item, &mut found)?;
            if sets.len().saturating_mul(more.len()) > SETS_AT_MOST {
                return Err(too_many_sets());
            }
            sets = sets.iter().flat_map(|set| more.iter().map(move |other| union(set, other))).collect();
        }
        if written.distinct {
            let mut once: Vec<Vec<usize>> = Vec::new();
            sets.retain(|set| {
                let new = !once.contains(set);
                if new {
                    once.push(set.clone());
                }
                new
            });
        }
        let mut renamed = Vec::new();
        if sets.len() == 1 {
            found.unite(&mut sets);
        } else {
            renamed = found.tell_apart();
        }
        let keys = found.keys;
        for (place, typed) in renamed {
            if let Some(item) = items.get_mut(place) {
                item.typed = typed;
            }
        }
        Ok(Some(GroupBy { keys, sets }))
    }

    /// The sets of one GROUP BY item.
    fn grouping_item(&self, item: &GroupItem, found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
        match item {
            GroupItem::Empty(_) => Ok(vec![Vec::new()]),
            GroupItem::Expr(expr) => Ok(vec![self.grouping_set(expr, found)?]),
            GroupItem::Sets(elements, _) => syntax::deeper(|| {
                let mut sets = Vec::new();
                for element in elements {
                    sets.extend(self.grouping_item(element, found)?);
                    if sets.len() > SETS_AT_MOST {
                        return Err(too_many_sets());
                    }
                }
                Ok(sets)
            }),
            GroupItem::Rollup(elements, _) => self.rollup(elements, found),
            GroupItem::Cube(elements, span) => self.cube(elements, *span, found),
        }
    }

    /// The sets of ROLLUP: all elements, then one less from the right each time.
    fn rollup(&self, elements: &[ast::Expr], found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
        let mut sets = vec![Vec::new()];
        let mut set = Vec::new();
        for element in elements {
            set = union(&set, &self.grouping_set(element, found)?);
            sets.push(set.clone());
        }
        if sets.len() > SETS_AT_MOST {
            return Err(too_many_sets());
        }
        sets.reverse();
        Ok(sets)
    }

    /// The sets of CUBE: all subsets of the elements.
    fn cube(&self, elements: &[ast::Expr], place: Span, found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
        let elements: Vec<Vec<usize>> =
            elements.iter().map(|element| self.grouping_set(element, found)).collect::<Result<_>>()?;
        if elements.len() > CUBE_AT_MOST {
            let message = format!("CUBE is limited to {CUBE_AT_MOST} elements");
            return Err(self.at(SqlError::new("54011", message), place));
        }
        let mut sets = vec![Vec::new()];
        for element in &elements {
            sets = sets.iter().flat_map(|set: &Vec<usize>| [union(set, element), set.clone()]).collect();
        }
        Ok(sets)
    }

    /// The positions among the keys of an expression, or of the fields of a row without ROW.
    fn grouping_set(&self, expr: &ast::Expr, found: &mut Items<'_, '_>) -> Result<Vec<usize>> {
        let mut set = Vec::new();
        for expr in fields_of(expr) {
            let (key, output) = self.grouping_key(expr, found)?;
            let mut known = found.keys.iter().zip(&found.places);
            let place = match known.position(|(known, place)| known.expr == key.expr && *place == output) {
                Some(place) => place,
                None => {
                    // Fails with 42883 if the type has no equality.
                    self.resolver.group_key(key.clone()).map_err(|error| self.at(error, written_place(expr)))?;
                    found.keys.push(key);
                    found.places.push(output);
                    found.keys.len() - 1
                }
            };
            set = union(&set, &[place]);
        }
        Ok(set)
    }

    /// A key, and the position of the first select item with this expression unless the key is a name.
    fn grouping_key(&self, expr: &ast::Expr, found: &Items<'_, '_>) -> Result<(TypedExpr, Option<usize>)> {
        let Items { items, list, names, env, .. } = found;
        let (mut listed, mut output) = (None, None);
        let key = match self.order_target(expr, names, "GROUP BY")? {
            OrderTarget::Output(place) => {
                listed = list.get(place);
                output = Some(place);
                items.get(place).map(|item| item.typed.clone())
            }
            // A name is first a column of FROM, then an output column.
            OrderTarget::Expression => match plain_name(expr) {
                Some(name) if env.scope.visible.iter().all(|column| column.name != name.value) => {
                    let place = self.output_place(&name.value, items, "GROUP BY");
                    output = place.map_err(|error| self.at(error, name.span))?;
                    match output.and_then(|place| items.get(place)) {
                        Some(item) => Some(item.typed.clone()),
                        None => Some(self.expr(expr, *env)?),
                    }
                }
                _ => Some(self.expr(expr, *env)?),
            },
        };
        let Some(key) = key else { return Err(SqlError::internal("a GROUP BY item stands for nothing")) };
        if has_aggregate(&key.expr) {
            let error = SqlError::new(state::GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY");
            let place = match listed {
                Some(item) => self.place_of_aggregate(item),
                None => self.place_of_aggregate(expr),
            };
            return Err(self.at(error, place.unwrap_or_else(|| place_of(expr))));
        }
        if has_window(&key.expr) {
            let error = SqlError::new(state::WINDOWING_ERROR, "window functions are not allowed in GROUP BY");
            return Err(self.at(error, place_of(expr)));
        }
        let output = output.or_else(|| items.iter().position(|item| item.typed.expr == key.expr));
        Ok((self.settle(key)?, output))
    }
}

/// The union of both sets of positions, ascending and distinct.
fn union(left: &[usize], right: &[usize]) -> Vec<usize> {
    let mut places = [left, right].concat();
    places.sort_unstable();
    places.dedup();
    places
}

/// The fields of a row without ROW, those of such rows within it included. Any other expression is its only field.
fn fields_of(expr: &ast::Expr) -> Vec<&ast::Expr> {
    let mut fields = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Row { fields: inner, explicit: false } => open.extend(inner.iter().rev()),
            _ => fields.push(expr),
        }
    }
    fields
}

fn too_many_sets() -> SqlError {
    let message = format!("too many grouping sets present (maximum {SETS_AT_MOST})");
    SqlError::new(state::STATEMENT_TOO_COMPLEX, message)
}
