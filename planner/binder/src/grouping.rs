//! GROUP BY: its items as keys and grouping sets. `aggregate` computes the groups.

use super::binder::Binder;
use super::call::{has_aggregate, has_window};
use super::expression::{Clause, Env};
use super::order::{OrderTarget, bare};
use super::select::Item;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Spanned};
use sqlparser::tokenizer::Span;
use syntax::{GROUP_BY_DISTINCT, fold};

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
    list: &'i [ast::SelectItem],
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
        group_by: &GroupByExpr,
        items: &mut [Item],
        list: &[ast::SelectItem],
        env: Env<'_>,
    ) -> Result<Option<GroupBy>> {
        let exprs = match group_by {
            GroupByExpr::Expressions(exprs, modifiers) if modifiers.is_empty() => exprs,
            _ => return Err(SqlError::unsupported("GROUP BY ALL")),
        };
        if exprs.is_empty() {
            return Ok(None);
        }
        let names = items.iter().map(|item| item.name.clone()).collect();
        let env = env.within(Clause::GroupBy);
        let mut found = Items { items, list, names, env, keys: Vec::new(), places: Vec::new() };
        let mut sets = vec![Vec::new()];
        let mut distinct = false;
        for expr in exprs {
            if matches!(expr, ast::Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value == GROUP_BY_DISTINCT)
            {
                distinct = true;
                continue;
            }
            let known = found.keys.len();
            let more = self.grouping_item(expr, &mut found)?;
            for key in found.keys.iter().skip(known) {
                // Fails with 42883 if the type has no equality.
                self.resolver.group_key(key.clone()).map_err(|error| self.at(error, expr.span()))?;
            }
            if sets.len().saturating_mul(more.len()) > SETS_AT_MOST {
                return Err(too_many_sets());
            }
            sets = sets.iter().flat_map(|set| more.iter().map(move |other| union(set, other))).collect();
        }
        if distinct {
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
    fn grouping_item(&self, expr: &ast::Expr, found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
        match expr {
            ast::Expr::Nested(inner) => self.grouping_item(inner, found),
            ast::Expr::Tuple(parts) => Ok(vec![self.grouping_set(&parts.iter().collect::<Vec<_>>(), found)?]),
            ast::Expr::GroupingSets(elements) => {
                let mut sets = Vec::new();
                for element in elements {
                    match element.as_slice() {
                        [single] => sets.extend(self.grouping_item(single, found)?),
                        several => sets.push(self.grouping_set(&several.iter().collect::<Vec<_>>(), found)?),
                    }
                    if sets.len() > SETS_AT_MOST {
                        return Err(too_many_sets());
                    }
                }
                Ok(sets)
            }
            ast::Expr::Rollup(elements) => {
                let elements: Vec<Vec<&ast::Expr>> = elements.iter().map(|part| part.iter().collect()).collect();
                self.rollup(&elements, found)
            }
            ast::Expr::Cube(elements) => {
                let elements: Vec<Vec<&ast::Expr>> = elements.iter().map(|part| part.iter().collect()).collect();
                self.cube(&elements, found)
            }
            // Within GROUPING SETS, ROLLUP and CUBE are parsed as calls.
            ast::Expr::Function(function) => match (called(function, "rollup"), called(function, "cube")) {
                (Some(elements), _) => self.rollup(&elements, found),
                (_, Some(elements)) => self.cube(&elements, found),
                _ => Ok(vec![self.grouping_set(&[expr], found)?]),
            },
            single => Ok(vec![self.grouping_set(&[single], found)?]),
        }
    }

    /// The sets of ROLLUP: all elements, then one less from the right each time.
    fn rollup(&self, elements: &[Vec<&ast::Expr>], found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
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
    fn cube(&self, elements: &[Vec<&ast::Expr>], found: &mut Items<'_, '_>) -> Result<Vec<Vec<usize>>> {
        let elements: Vec<Vec<usize>> =
            elements.iter().map(|element| self.grouping_set(element, found)).collect::<Result<_>>()?;
        if elements.len() > CUBE_AT_MOST {
            let message = format!("CUBE is limited to {CUBE_AT_MOST} elements");
            return Err(SqlError::new("54011", message).about_words(&["cube", "("], Span::empty(), 0));
        }
        let mut sets = vec![Vec::new()];
        for element in &elements {
            sets = sets.iter().flat_map(|set: &Vec<usize>| [union(set, element), set.clone()]).collect();
        }
        Ok(sets)
    }

    /// The positions of expressions among the keys.
    fn grouping_set(&self, exprs: &[&ast::Expr], found: &mut Items<'_, '_>) -> Result<Vec<usize>> {
        let mut set = Vec::new();
        for expr in exprs {
            let (key, output) = self.grouping_key(expr, found)?;
            let mut known = found.keys.iter().zip(&found.places);
            let place = match known.position(|(known, place)| known.expr == key.expr && *place == output) {
                Some(place) => place,
                None => {
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
            OrderTarget::Expression => match bare(expr) {
                // A name is first a column of FROM, then an output column.
                ast::Expr::Identifier(ident) => {
                    let name = fold(ident);
                    match env.scope.visible.iter().any(|column| column.name == name) {
                        true => Some(self.expr(expr, *env)?),
                        false => {
                            let place = self.output_place(&name, items, "GROUP BY");
                            output = place.map_err(|error| self.at(error, ident.span))?;
                            match output.and_then(|place| items.get(place)) {
                                Some(item) => Some(item.typed.clone()),
                                None => Some(self.expr(expr, *env)?),
                            }
                        }
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
            return Err(self.at(error, place.unwrap_or_else(|| expr.span())));
        }
        if has_window(&key.expr) {
            let error = SqlError::new(state::WINDOWING_ERROR, "window functions are not allowed in GROUP BY");
            return Err(self.at(error, expr.span()));
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

/// The elements of `name(…)`, with parentheses removed.
pub fn called<'f>(function: &'f ast::Function, name: &str) -> Option<Vec<Vec<&'f ast::Expr>>> {
    let [ast::ObjectNamePart::Identifier(ident)] = function.name.0.as_slice() else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    let plain = function.over.is_none() && function.filter.is_none() && list.clauses.is_empty();
    if ident.quote_style.is_some() || !ident.value.eq_ignore_ascii_case(name) || !plain {
        return None;
    }
    let element = |arg: &'f FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Tuple(parts))) => Some(parts.iter().collect()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(vec![expr]),
        _ => None,
    };
    list.args.iter().map(element).collect()
}

fn too_many_sets() -> SqlError {
    let message = format!("too many grouping sets present (maximum {SETS_AT_MOST})");
    SqlError::new(state::STATEMENT_TOO_COMPLEX, message)
}
