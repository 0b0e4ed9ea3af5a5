//! Items of FROM: tables, subqueries, functions and joins.

use super::Analysis;
use super::node::{From, Join, Node, Relation, RelationKind};
use super::query::named;
use super::scope::{Item, Scope};
use super::ty_of;
use super::types::{Ty, oid};
use crate::builtin::ALL_FUNCTIONS;
use crate::describe;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, JoinConstraint, JoinOperator, TableAlias, TableFactor};
use syntax::names::quote;
use syntax::{JOIN_ALIAS, ROWS_FROM, VALUE_IN_FROM, fold, fold_name};
use types::Oid;

/// The names and relations that an item of FROM adds.
struct Added<'r> {
    items: Vec<Item>,
    relations: &'r mut Vec<usize>,
}

impl Analysis<'_> {
    /// Analyzes FROM and adds its names to the scope.
    pub fn from(
        &self,
        from: &[ast::TableWithJoins],
        scope: &mut Scope<'_>,
        relations: &mut Vec<usize>,
    ) -> Option<Vec<From>> {
        let mut made = Vec::new();
        for item in from {
            let mut added = Added { items: Vec::new(), relations };
            made.push(self.joined(item, scope, &mut added)?);
            scope.items.append(&mut added.items);
        }
        Some(made)
    }

    fn joined(&self, item: &ast::TableWithJoins, scope: &Scope<'_>, added: &mut Added<'_>) -> Option<From> {
        let mut left = self.factor(&item.relation, scope, added)?;
        for join in &item.joins {
            left = self.join(left, join, scope, added)?;
        }
        Some(left)
    }

    fn factor(&self, factor: &TableFactor, scope: &Scope<'_>, added: &mut Added<'_>) -> Option<From> {
        // The items to the left, which LATERAL items may refer to.
        let mut beside = Scope { items: scope.items.clone(), outer: scope.outer };
        beside.items.extend(added.items.iter().cloned());
        let relation = match factor {
            TableFactor::Table { name, alias, args: None, with_ordinality: false, sample: None, .. } => {
                self.table(name, alias.as_ref())?
            }
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, sample: None, .. } => {
                self.table_function(&fold_name(name).ok()?.1, &args.args, alias.as_ref(), *with_ordinality, &beside)?
            }
            TableFactor::Function { lateral, name, args, with_ordinality, alias } => {
                let name = fold_name(name).ok()?.1;
                let made = self.table_function(&name, args, alias.as_ref(), *with_ordinality, &beside)?;
                Relation { lateral: *lateral || made.lateral, ..made }
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality, .. } => {
                match array_exprs.as_slice() {
                    [array] => {
                        let args = [FunctionArg::Unnamed(FunctionArgExpr::Expr(array.clone()))];
                        self.table_function("unnest", &args, alias.as_ref(), *with_ordinality, &beside)?
                    }
                    several => self.several_arrays(several, alias.as_ref(), *with_ordinality, &beside)?,
                }
            }
            TableFactor::Derived { lateral, subquery, alias: Some(alias), sample: None } => {
                let outer = if *lateral { Some(&beside) } else { scope.outer };
                let query = self.query(subquery, outer)?;
                let columns = query.columns.clone();
                let made = self.called(RelationKind::Query(Box::new(query)), columns, alias);
                Relation { lateral: *lateral, ..made }
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let mut inner = Added { items: Vec::new(), relations: &mut *added.relations };
                let made = self.joined(table_with_joins, &beside, &mut inner)?;
                let Some(alias) = alias else {
                    added.items.append(&mut inner.items);
                    return Some(made);
                };
                let From::Join(mut join) = made else { return None };
                let last = inner.items.iter().rev().find(|item| item.bare)?.relation;
                let columns = self.relations.borrow().get(last)?.columns.clone();
                let columns = columns.into_iter().map(|(name, node)| (name, node.ty())).collect();
                let relation = self.called(RelationKind::Join, columns, alias);
                join.alias = Some((fold(&alias.name), relation.aliases.clone()));
                let at = self.place(relation);
                added.relations.push(at);
                added.items.push(Item { relation: at, qualified: true, bare: true });
                return Some(From::Join(join));
            }
            _ => return None,
        };
        let at = self.place(relation);
        added.relations.push(at);
        added.items.push(Item { relation: at, qualified: true, bare: true });
        Some(From::Relation(at))
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
    fn called(&self, kind: RelationKind, columns: Vec<(String, Ty)>, alias: &TableAlias) -> Relation {
        let aliases: Vec<String> = alias.columns.iter().map(|column| fold(&column.name)).collect();
        let columns = named(columns, &aliases);
        let name = fold(&alias.name);
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
        Relation {
            kind,
            printed: Some(name.clone()),
            name: Some(name),
            aliased: true,
            aliases: shown,
            lateral: false,
            columns,
        }
    }

    fn table(&self, name: &ast::ObjectName, alias: Option<&TableAlias>) -> Option<Relation> {
        let (schema, written) = fold_name(name).ok()?;
        if schema.is_none() {
            let common = self.common.borrow();
            if let Some((_, columns)) = common.iter().rev().find(|(known, _)| *known == written) {
                let (kind, columns) = (RelationKind::Common(written.clone()), columns.clone());
                drop(common);
                return Some(match alias {
                    Some(alias) => self.called(kind, columns, alias),
                    None => Relation {
                        kind,
                        name: Some(written.clone()),
                        printed: Some(written),
                        aliased: false,
                        aliases: Vec::new(),
                        lateral: false,
                        columns: columns.into_iter().map(own_column).collect(),
                    },
                });
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
        let aliases: Vec<String> =
            alias.map_or_else(Vec::new, |alias| alias.columns.iter().map(|column| fold(&column.name)).collect());
        for ((then, now, _), alias) in columns.iter_mut().zip(&aliases) {
            (*then, *now) = (alias.clone(), alias.clone());
        }
        let mut there = there.into_iter();
        columns.retain(|_| there.next().unwrap_or(true));
        let shown_aliases: Vec<String> = columns.iter().map(|(_, now, _)| now.clone()).collect();
        let name = alias.map_or(written, |alias| fold(&alias.name));
        Some(Relation {
            printed: Some(alias.map_or_else(|| table.name.clone(), |alias| fold(&alias.name))),
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
        name: &str,
        args: &[FunctionArg],
        alias: Option<&TableAlias>,
        ordinality: bool,
        scope: &Scope<'_>,
    ) -> Option<Relation> {
        if name == VALUE_IN_FROM {
            return None;
        }
        let mut defined = Vec::new();
        for column in alias.iter().flat_map(|alias| &alias.columns) {
            defined.extend(column.data_type.as_ref().map(|ty| self.type_of(ty)));
        }
        let defined = defined.into_iter().collect::<Option<Vec<Ty>>>()?;
        let mut called = alias.map_or_else(|| name.to_string(), |alias| fold(&alias.name));
        let (call, mut columns, lateral) = match name {
            ROWS_FROM => {
                let (calls, columns, lateral, first) = self.functions_in_step(args, scope)?;
                if alias.is_none() {
                    called = first;
                }
                (Node::Listed { word: "ROWS FROM", args: calls, ty: Ty::of(oid::RECORD) }, columns, lateral)
            }
            name => self.called_in_from(name, args, &called, !defined.is_empty(), scope)?,
        };
        if ordinality {
            columns.push(("ordinality".to_string(), Ty::of(oid::INT8)));
        }
        let aliases: Vec<String> =
            alias.map_or_else(Vec::new, |alias| alias.columns.iter().map(|column| fold(&column.name)).collect());
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
        calls: &[FunctionArg],
        scope: &Scope<'_>,
    ) -> Option<(Vec<Node>, Vec<(String, Ty)>, bool, String)> {
        let (mut made, mut columns, mut lateral, mut first) = (Vec::new(), Vec::new(), false, None);
        for call in calls {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Function(call))) = call else { return None };
            let ast::FunctionArguments::List(list) = &call.args else { return None };
            let name = fold_name(&call.name).ok()?.1;
            let (node, own, beside) = self.called_in_from(&name, &list.args, &name, false, scope)?;
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
        args: &[FunctionArg],
        called: &str,
        defined: bool,
        scope: &Scope<'_>,
    ) -> Option<(Node, Vec<(String, Ty)>, bool)> {
        let mut nodes = Vec::new();
        for arg in args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg else { return None };
            nodes.push(self.expr(expr, scope)?);
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

    /// `unnest` of several arrays in parallel.
    fn several_arrays(
        &self,
        arrays: &[ast::Expr],
        alias: Option<&TableAlias>,
        ordinality: bool,
        scope: &Scope<'_>,
    ) -> Option<Relation> {
        if alias.is_some_and(|alias| alias.columns.iter().any(|column| column.data_type.is_some())) {
            return None;
        }
        let mut args = Vec::new();
        let mut columns: Vec<(String, Ty)> = Vec::new();
        for array in arrays {
            let Node::Call(call) = self.function("unnest", vec![self.expr(array, scope)?], None)? else { return None };
            columns.push(("unnest".to_string(), call.ty));
            args.extend(call.args);
        }
        let lateral = args.iter().any(super::comparison::has_column);
        if ordinality {
            columns.push(("ordinality".to_string(), Ty::of(oid::INT8)));
        }
        let called = alias.map_or_else(|| "unnest".to_string(), |alias| fold(&alias.name));
        let aliases: Vec<String> =
            alias.map_or_else(Vec::new, |alias| alias.columns.iter().map(|column| fold(&column.name)).collect());
        let call = Node::Listed { word: "UNNEST", args, ty: Ty::of(oid::RECORD) };
        let kind = RelationKind::Function { call, ordinality, defined: Vec::new() };
        Some(of_function(kind, called, named(columns, &aliases), lateral))
    }

    fn join(&self, left: From, join: &ast::Join, scope: &Scope<'_>, added: &mut Added<'_>) -> Option<From> {
        use JoinOperator as J;
        let (words, constraint) = match &join.join_operator {
            J::Join(constraint) | J::Inner(constraint) => ("JOIN", constraint),
            J::Left(constraint) | J::LeftOuter(constraint) => ("LEFT JOIN", constraint),
            J::Right(constraint) | J::RightOuter(constraint) => ("RIGHT JOIN", constraint),
            J::FullOuter(constraint) => ("FULL JOIN", constraint),
            J::CrossJoin(constraint) => ("CROSS JOIN", constraint),
            _ => return None,
        };
        let before = added.items.len();
        let right = self.factor(&join.relation, scope, added)?;
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
        let using: Vec<String> = match constraint {
            JoinConstraint::On(_) | JoinConstraint::None => Vec::new(),
            JoinConstraint::Using(names) => {
                names.iter().map(|name| Some(fold_name(name).ok()?.1)).collect::<Option<_>>()?
            }
            JoinConstraint::Natural => {
                let common = |name: &&String| of_right.iter().any(|(known, _)| known == *name);
                of_left.iter().map(|(name, _)| name).filter(common).cloned().collect()
            }
        };
        let mut using = using;
        let using_alias = match using.last().and_then(|name| name.strip_prefix(JOIN_ALIAS)).map(str::to_string) {
            Some(alias) => {
                using.pop();
                Some(alias)
            }
            None => None,
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
        let on = match constraint {
            JoinConstraint::On(on) => {
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
        let alias = None;
        Some(From::Join(Box::new(Join { words, left, right, on, using, using_alias, alias })))
    }
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
