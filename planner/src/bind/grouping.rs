//! GROUP BY: its items as keys and grouping sets. What is computed from the groups is `aggregate`'s.

use super::binder::Binder;
use super::call::{has_aggregate, has_window};
use super::expression::{Clause, Env};
use super::order::{OrderTarget, bare};
use super::select::Item;
use crate::error::{Result, SqlError, state};
use crate::functions::TypedExpr;
use crate::parse::{GROUP_BY_DISTINCT, fold};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Spanned};
use sqlparser::tokenizer::Span;

/// PostgreSQL's limits.
const SETS_AT_MOST: usize = 4096;
const CUBE_AT_MOST: usize = 12;

/// What a query groups by.
#[derive(Clone, Debug)]
pub struct GroupBy {
    /// The keys, each once.
    pub keys: Vec<TypedExpr>,
    /// Which of them each grouping set has: ascending places, each once. Never empty; a query without GROUPING SETS, ROLLUP
    /// or CUBE has one, of all keys.
    pub sets: Vec<Vec<usize>>,
}

impl Default for GroupBy {
    fn default() -> Self {
        GroupBy { keys: Vec::new(), sets: vec![Vec::new()] }
    }
}

impl GroupBy {
    /// The keys that every set has.
    pub fn common(&self) -> Vec<TypedExpr> {
        let everywhere = |place: &usize| self.sets.iter().all(|set| set.contains(place));
        let keys = self.keys.iter().enumerate();
        keys.filter(|(place, _)| everywhere(place)).map(|(_, key)| key.clone()).collect()
    }
}

/// GROUP BY under way.
struct Items<'i, 's> {
    items: &'i [Item],
    list: &'i [ast::SelectItem],
    names: Vec<String>,
    env: Env<'s>,
    keys: Vec<TypedExpr>,
}

impl Binder<'_> {
    /// GROUP BY; None when there is none.
    pub fn group_by(
        &self,
        group_by: &GroupByExpr,
        items: &[Item],
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
        let mut found = Items { items, list, names, env: env.within(Clause::GroupBy), keys: Vec::new() };
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
                // 42883 where there is no equality.
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
        Ok(Some(GroupBy { keys: found.keys, sets }))
    }

    /// The sets that one item stands for.
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
            // Within GROUPING SETS they are parsed as calls.
            ast::Expr::Function(function) => match (called(function, "rollup"), called(function, "cube")) {
                (Some(elements), _) => self.rollup(&elements, found),
                (_, Some(elements)) => self.cube(&elements, found),
                _ => Ok(vec![self.grouping_set(&[expr], found)?]),
            },
            single => Ok(vec![self.grouping_set(&[single], found)?]),
        }
    }

    /// All elements, then always one less from the right.
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

    /// Every choice of the elements.
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

    /// The places of expressions among the keys.
    fn grouping_set(&self, exprs: &[&ast::Expr], found: &mut Items<'_, '_>) -> Result<Vec<usize>> {
        let mut set = Vec::new();
        for expr in exprs {
            let key = self.grouping_key(expr, found)?;
            let place = match found.keys.iter().position(|known| known.expr == key.expr) {
                Some(place) => place,
                None => {
                    found.keys.push(key);
                    found.keys.len() - 1
                }
            };
            set = union(&set, &[place]);
        }
        Ok(set)
    }

    fn grouping_key(&self, expr: &ast::Expr, found: &Items<'_, '_>) -> Result<TypedExpr> {
        let Items { items, list, names, env, .. } = found;
        let mut listed = None;
        let key = match self.order_target(expr, names, "GROUP BY")? {
            OrderTarget::Output(place) => {
                listed = list.get(place);
                items.get(place).map(|item| item.typed.clone())
            }
            OrderTarget::Expression => match bare(expr) {
                // A name is first one of FROM's columns, then one of the output.
                ast::Expr::Identifier(ident) => {
                    let name = fold(ident);
                    match env.scope.visible.iter().any(|column| column.name == name) {
                        true => Some(self.expr(expr, *env)?),
                        false => {
                            let place = self.output_place(&name, items, "GROUP BY");
                            match place.map_err(|error| self.at(error, ident.span))?.and_then(|place| items.get(place))
                            {
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
        self.settle(key)
    }
}

/// The places of both, ascending, each once.
fn union(left: &[usize], right: &[usize]) -> Vec<usize> {
    let mut places = [left, right].concat();
    places.sort_unstable();
    places.dedup();
    places
}

/// The elements of `name(…)`, brackets opened.
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
