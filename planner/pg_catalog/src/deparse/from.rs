//! Items of FROM: tables, subqueries, functions and joins.

use super::Analysis;
use super::node::{From, Join, Node, Relation, RelationKind};
use super::query::named;
use super::scope::{Item, Scope};
use super::ty_of;
use super::types::{Ty, oid};
use crate::builtin::ALL_FUNCTIONS;
use crate::describe;
use syntax::ast::{
    self, Alias, Argument, Expr, ExprKind, FromItem, JoinCondition, JoinKind, RelationName, RowsFunction,
};
use syntax::names::quote;
use syntax::{deeper, fold_name};
use types::Oid;

/// The names and relations that an item of FROM adds.
struct Added<'r> {
    items: Vec<Item>,
    relations: &'r mut Vec<usize>,
}

impl Analysis<'_> {
    /// Analyzes FROM and adds its names to the scope.
    pub fn from(&self, from: &[FromItem], scope: &mut Scope<'_>, relations: &mut Vec<usize>) -> Option<Vec<From>> {
        let mut made = Vec::new();
        for item in from {
            let mut added = Added { items: Vec::new(), relations };
            made.push(self.item_of_from(item, scope, &mut added)?);
            scope.items.append(&mut added.items);
        }
        Some(made)
    }

    fn item_of_from(&self, item: &FromItem, scope: &Scope<'_>, added: &mut Added<'_>) -> Option<From> {
        // The items to the left, which LATERAL items may refer to.
        let mut beside = Scope { items: scope.items.clone(), outer: scope.outer };
        beside.items.extend(added.items.iter().cloned());
        let (relation, made) = match item {
            FromItem::Table { relation, alias, sample: None, .. } => (self.table(relation, alias.as_ref())?, None),
            FromItem::Function { lateral, functions, ordinality, alias, .. } => {
                let made = self.table_function(functions, alias.as_ref(), *ordinality, &beside)?;
                (Relation { lateral: *lateral || made.lateral, ..made }, None)
            }
            FromItem::Query { lateral, query, alias: Some(alias), .. } => {
                let outer = if *lateral { Some(&beside) } else { scope.outer };
                let query = self.query(query, outer)?;
                let columns = query.columns.clone();
                let made = self.called(RelationKind::Query(Box::new(query)), columns, alias)?;
                (Relation { lateral: *lateral, ..made }, None)
            }
            FromItem::Join(join) => {
                let mut inner = Added { items: Vec::new(), relations: &mut *added.relations };
                let mut made = deeper(|| self.join(join, &beside, &mut inner))?;
                let Some(alias) = &join.alias else {
                    added.items.append(&mut inner.items);
                    return Some(From::Join(Box::new(made)));
                };
                let last = inner.items.iter().rev().find(|item| item.bare)?.relation;
                let columns = self.relations.borrow().get(last)?.columns.clone();
                let columns = columns.into_iter().map(|(name, node)| (name, node.ty())).collect();
                let relation = self.called(RelationKind::Join, columns, alias)?;
                made.alias = Some((relation.name.clone()?, relation.aliases.clone()));
                (relation, Some(made))
            }
            FromItem::Table { .. } | FromItem::Query { .. } => return None,
        };
        let at = self.place(relation);
        added.relations.push(at);
        added.items.push(Item { relation: at, qualified: true, bare: true });
        Some(made.map_or(From::Relation(at), |join| From::Join(Box::new(join))))
    }

    /// Adds a relation. Its columns refer to it unless they refer to another relation already.
    fn place(&self, relation: Relation) -> usize {
        let at = self.add(relation);
        if let Some(relation) = self.relations.borrow_mut().get_mut(at) {
            for (_, node) in &mut relation.columns {
                if let Node::Column { relation: of, .. } = node {
                    *of = Some(at);
                }
            }
        }
        at
    }

    /// A relation with an alias.
    fn called(&self, kind: RelationKind, columns: Vec<(String, Ty)>, alias: &Alias) -> Option<Relation> {
        let aliases = columns_of(Some(alias));
        let columns = named(columns, &aliases);
        let name = alias.name.as_ref()?.value.clone();
        // Shown names must be distinct.
        let mut shown: Vec<String> = Vec::with_capacity(columns.len());
        for (name, _) in &columns {
            let mut unique = name.clone();
            let mut number = 0;
            while shown.contains(&unique) {
                number += 1;
                unique = format!("{name}_{number}");
            }
            shown.push(unique);
        }
        let changed = shown.iter().zip(&columns).any(|(shown, (name, _))| shown != name);
        let column = |((name, ty), shown): ((String, Ty), &String)| {
            (name, Node::Column { relation: Some(0), name: shown.clone(), ty })
        };
        let columns = columns.into_iter().zip(&shown).map(column).collect();
        let shown = if aliases.is_empty() && !changed { Vec::new() } else { shown };
        Some(Relation {
            kind,
            printed: Some(name.clone()),
            name: Some(name),
            aliased: true,
            aliases: shown,
            lateral: false,
            columns,
        })
    }

    fn table(&self, relation: &RelationName, alias: Option<&Alias>) -> Option<Relation> {
        let (schema, written) = fold_name(&relation.name).ok()?;
        if schema.is_none() {
            let common = self.common.borrow();
            if let Some((_, columns)) = common.iter().rev().find(|(known, _)| *known == written) {
                let (kind, columns) = (RelationKind::Common(written.clone()), columns.clone());
                drop(common);
                return match alias {
                    Some(alias) => self.called(kind, columns, alias),
                    None => Some(Relation {
                        kind,
                        name: Some(written.clone()),
                        printed: Some(written),
                        aliased: false,
                        aliases: Vec::new(),
                        lateral: false,
                        columns: columns.into_iter().map(own_column).collect(),
                    }),
                };
            }
        }
        let known = self.view?.relations.iter().find(|known| known.schema == schema && known.name == written)?;
        let table = self.context.catalog.relation_by_oid(known.oid)?;
        let hidden = self.common.borrow().iter().any(|(common, _)| *common == table.name);
        let visible =
            describe::relation_is_visible(self.context.catalog, table.oid, self.context.search_path) == Some(true);
        let shown = match visible && !hidden {
            true => quote(&table.name),
            false => format!("{}.{}", quote(&table.schema), quote(&table.name)),
        };
        let shown = if relation.only { format!("ONLY {shown}") } else { shown };
        // The columns at the time of the view's creation, with their present names.
        let mut columns: Vec<(String, String, Ty)> = Vec::new();
        if known.columns.is_empty() {
            columns.extend(table.live_columns().map(|found| (found.name.clone(), found.name.clone(), ty_of(found.ty))));
        }
        // A column that was dropped since is unused.
        let mut there = vec![true; columns.len()];
        for (id, then) in &known.columns {
            let column = table.column(*id)?;
            columns.push((then.clone(), column.name.clone(), ty_of(column.ty)));
            there.push(!column.dropped);
        }
        let aliases = columns_of(alias);
        for ((then, now, _), alias) in columns.iter_mut().zip(&aliases) {
            (*then, *now) = (alias.clone(), alias.clone());
        }
        let mut there = there.into_iter();
        columns.retain(|_| there.next().unwrap_or(true));
        let shown_aliases: Vec<String> = columns.iter().map(|(_, now, _)| now.clone()).collect();
        let given = alias.and_then(|alias| alias.name.as_ref()).map(|name| name.value.clone());
        let name = given.clone().unwrap_or(written);
        Some(Relation {
            printed: Some(given.unwrap_or_else(|| table.name.clone())),
            kind: RelationKind::Table { shown, name: table.name.clone() },
            name: Some(name),
            aliased: alias.is_some(),
            aliases: if aliases.is_empty() { Vec::new() } else { shown_aliases },
            lateral: false,
            columns: columns
                .into_iter()
                .map(|(then, name, ty)| (then, Node::Column { relation: Some(0), name, ty }))
                .collect(),
        })
    }

    fn table_function(
        &self,
        functions: &[RowsFunction],
        alias: Option<&Alias>,
        ordinality: bool,
        scope: &Scope<'_>,
    ) -> Option<Relation> {
        let definitions = alias.map_or_else(Default::default, |alias| alias.definitions.as_slice());
        let defined = definitions.iter().map(|column| self.type_of(&column.data_type)).collect::<Option<Vec<Ty>>>()?;
        let mut aliases = columns_of(alias);
        aliases.extend(definitions.iter().map(|column| column.name.value.clone()));
        let given = alias.and_then(|alias| alias.name.as_ref()).map(|name| name.value.clone());
        let (call, mut columns, lateral, called) = match functions {
            [function] if function.definitions.is_empty() => {
                let (name, args) = called_function(&function.call)?;
                let called = given.unwrap_or_else(|| name.clone());
                let (call, columns, lateral) = match args {
                    [_, _, ..] if name == "unnest" => match defined.as_slice() {
                        [] => self.several_arrays(args, scope)?,
                        _ => return None,
                    },
                    args => self.called_in_from(&name, args, &called, !defined.is_empty(), scope)?,
                };
                (call, columns, lateral, called)
            }
            several => {
                let (calls, columns, lateral, first) = self.functions_in_step(several, scope)?;
                let call = Node::Listed { word: "ROWS FROM", args: calls, ty: Ty::of(oid::RECORD) };
                (call, columns, lateral, given.unwrap_or(first))
            }
        };
        if ordinality {
            columns.push(("ordinality".to_string(), Ty::of(oid::INT8)));
        }
        if !defined.is_empty() {
            columns = aliases.iter().cloned().zip(defined.iter().copied()).collect();
        }
        let kind = RelationKind::Function { call, ordinality, defined };
        Some(of_function(kind, called, named(columns, &aliases), lateral))
    }

    /// The functions of ROWS FROM: their calls, their columns, whether they refer to items to the left, and
    /// the first one's name.
    #[allow(clippy::type_complexity)]
    fn functions_in_step(
        &self,
        functions: &[RowsFunction],
        scope: &Scope<'_>,
    ) -> Option<(Vec<Node>, Vec<(String, Ty)>, bool, String)> {
        let (mut made, mut columns, mut lateral, mut first) = (Vec::new(), Vec::new(), false, None);
        for function in functions {
            if !function.definitions.is_empty() {
                return None;
            }
            let (name, args) = called_function(&function.call)?;
            let (node, own, beside) = self.called_in_from(&name, args, &name, false, scope)?;
            made.push(node);
            columns.extend(own);
            lateral |= beside;
            first.get_or_insert(name);
        }
        Some((made, columns, lateral, first?))
    }

    /// A function in FROM: its call, its columns, and whether it refers to items to the left. `called` is the name of a
    /// column that has none. `defined` says that a column definition list follows.
    fn called_in_from(
        &self,
        name: &str,
        args: &[Argument],
        called: &str,
        defined: bool,
        scope: &Scope<'_>,
    ) -> Option<(Node, Vec<(String, Ty)>, bool)> {
        let mut nodes = Vec::new();
        for arg in args {
            nodes.push(self.expr(unnamed(arg)?, scope)?);
        }
        let given: Vec<Oid> = nodes.iter().map(|node| node.ty().oid).collect();
        let lateral = nodes.iter().any(super::comparison::has_column);
        let call = self.function(name, nodes, None)?;
        if defined {
            return Some((call, Vec::new(), lateral));
        }
        let chosen = super::resolve::function(self.types(), name, "f", &given, false).ok()?;
        // Output arguments are columns.
        let function = ALL_FUNCTIONS.iter().find(|function| function.oid == chosen.what.oid)?;
        let (modes, names, all) = (function.modes(), function.names(), function.all_types());
        let mut columns: Vec<(String, Ty)> = Vec::new();
        for ((mode, ty), column) in modes.iter().zip(&all).zip(&names) {
            if matches!(mode, 'o' | 'b' | 't') {
                if super::types::is_polymorphic(*ty) {
                    return None;
                }
                columns.push((column.clone(), Ty::of(*ty)));
            }
        }
        if columns.len() <= 1 {
            if chosen.result == oid::RECORD && columns.is_empty() {
                return None;
            }
            // A single column takes the name of its output argument, or of the whole.
            let own = columns.pop().map_or_else(|| called.to_string(), |(column, _)| column);
            // The result type of a polymorphic function follows from the arguments.
            let ty = if super::types::is_polymorphic(chosen.result) { call.ty() } else { Ty::of(chosen.result) };
            columns = vec![(own, ty)];
        }
        Some((call, columns, lateral))
    }

    /// `unnest` of several arrays in parallel, as a function in FROM.
    fn several_arrays(&self, arrays: &[Argument], scope: &Scope<'_>) -> Option<(Node, Vec<(String, Ty)>, bool)> {
        let mut args = Vec::new();
        let mut columns: Vec<(String, Ty)> = Vec::new();
        for array in arrays {
            let array = self.expr(unnamed(array)?, scope)?;
            let Node::Call(call) = self.function("unnest", vec![array], None)? else { return None };
            columns.push(("unnest".to_string(), call.ty));
            args.extend(call.args);
        }
        let lateral = args.iter().any(super::comparison::has_column);
        Some((Node::Listed { word: "UNNEST", args, ty: Ty::of(oid::RECORD) }, columns, lateral))
    }

    fn join(&self, join: &ast::Join, scope: &Scope<'_>, added: &mut Added<'_>) -> Option<Join> {
        let words = match join.kind {
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::Inner => "JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::Right => "RIGHT JOIN",
            JoinKind::Full => "FULL JOIN",
        };
        let left = self.item_of_from(&join.left, scope, added)?;
        let before = added.items.len();
        let right = self.item_of_from(&join.right, scope, added)?;
        let columns = |items: &[Item]| -> Option<Vec<(String, Node)>> {
            let relations = self.relations.borrow();
            let mut columns = Vec::new();
            for item in items.iter().filter(|item| item.bare) {
                columns.extend(relations.get(item.relation)?.columns.iter().cloned());
            }
            Some(columns)
        };
        let mut of_left = columns(added.items.get(..before)?)?;
        let mut of_right = columns(added.items.get(before..)?)?;
        let (using, using_alias) = match &join.condition {
            JoinCondition::On(_) | JoinCondition::None => (Vec::new(), None),
            JoinCondition::Using(names, alias) => {
                let names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
                (names, alias.as_ref().map(|alias| alias.value.clone()))
            }
            JoinCondition::Natural => {
                let common = |name: &&String| of_right.iter().any(|(known, _)| known == *name);
                (of_left.iter().map(|(name, _)| name).filter(common).cloned().collect(), None)
            }
        };
        let mut merged = Vec::new();
        for name in &using {
            let take = |columns: &mut Vec<(String, Node)>| -> Option<Node> {
                let at = columns.iter().position(|(known, _)| known == name)?;
                Some(columns.remove(at).1)
            };
            let (one, other) = (take(&mut of_left)?, take(&mut of_right)?);
            let shown = |node: &Node| matches!(node, Node::Column { name: shown, .. } if shown == name);
            if !shown(&one) || !shown(&other) {
                return None;
            }
            let (ty, of_other) = (one.ty(), other.ty());
            let oid = super::coerce::common(self.types(), &[ty.oid, of_other.oid])?;
            let alone = || {
                let modifier = if ty == of_other { ty.modifier } else { -1 };
                Node::Column { relation: None, name: name.clone(), ty: Ty { oid, modifier } }
            };
            let node = match words {
                "RIGHT JOIN" if of_other.oid == oid => other,
                "JOIN" if ty.oid != oid && of_other.oid == oid => other,
                "JOIN" | "LEFT JOIN" if ty.oid == oid => one,
                _ => alone(),
            };
            merged.push((name.clone(), node));
        }
        for item in &mut added.items {
            item.bare = false;
        }
        if let Some(alias) = &using_alias {
            let (kind, name, columns) = (RelationKind::Join, Some(alias.clone()), merged.clone());
            let (printed, aliased, aliases, lateral) = (None, true, Vec::new(), false);
            let relation = self.add(Relation { kind, name, printed, aliased, aliases, lateral, columns });
            added.items.push(Item { relation, qualified: true, bare: false });
        }
        merged.append(&mut of_left);
        merged.append(&mut of_right);
        let (kind, lateral, aliased) = (RelationKind::Join, false, false);
        let relation =
            Relation { kind, name: None, printed: None, aliased, aliases: Vec::new(), lateral, columns: merged };
        let at = self.add(relation);
        added.items.push(Item { relation: at, qualified: false, bare: true });
        let on = match &join.condition {
            JoinCondition::On(on) => {
                // ON sees both sides of the join and the outer query.
                let sides = Scope { items: added.items.clone(), outer: scope.outer };
                Some(self.boolean(self.expr(on, &sides)?)?)
            }
            _ if using.is_empty() && !matches!(words, "JOIN" | "CROSS JOIN") => {
                Some(Node::Const(Ty::of(oid::BOOL), Some("t".to_string())))
            }
            _ => None,
        };
        let words = if words == "JOIN" && on.is_none() && using.is_empty() { "CROSS JOIN" } else { words };
        Some(Join { words, left, right, on, using, using_alias, alias: None })
    }
}

/// The names of columns in an alias.
fn columns_of(alias: Option<&Alias>) -> Vec<String> {
    alias.iter().flat_map(|alias| &alias.columns).map(|column| column.value.clone()).collect()
}

/// The name and the arguments of a plain call.
fn called_function(call: &Expr) -> Option<(String, &[Argument])> {
    let ExprKind::Call(call) = &call.kind else { return None };
    if call.star || call.distinct || call.variadic || !call.order_by.is_empty() {
        return None;
    }
    let (_, name) = fold_name(&call.name).ok()?;
    Some((name, call.arguments.as_slice()))
}

/// The value of an argument without a name.
fn unnamed(argument: &Argument) -> Option<&Expr> {
    argument.name.is_none().then_some(&argument.value)
}

/// The relation of a function in FROM. `columns` have the names that the query uses.
fn of_function(kind: RelationKind, called: String, columns: Vec<(String, Ty)>, lateral: bool) -> Relation {
    let shown = crate::describe::each_alias(columns.iter().map(|(name, _)| name.as_str()));
    let column = |((name, ty), shown): ((String, Ty), &String)| {
        (name, Node::Column { relation: Some(0), name: shown.clone(), ty })
    };
    Relation {
        kind,
        name: Some(called.clone()),
        printed: Some(called),
        aliased: true,
        columns: columns.into_iter().zip(&shown).map(column).collect(),
        aliases: shown,
        lateral,
    }
}

fn own_column((name, ty): (String, Ty)) -> (String, Node) {
    let node = Node::Column { relation: Some(0), name: name.clone(), ty };
    (name, node)
}
