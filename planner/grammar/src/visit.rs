//! [`Visit`] and [`VisitMut`]: walks through the expressions, queries and relations of a tree.
//!
//! A [`Visitor`] is called at each node, the outermost first, in the order of the text. Queries within expressions and
//! statements within statements are part of the walk. Names of types with their modifiers are not. Depth is handled:
//! the stack grows.

mod expression;
mod query;
mod statement;
#[cfg(test)]
mod tests;
mod write;

use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::tree::{Expr, FromItem, Name, Operator, Query, RelationName, Select, TypeName};

/// What is called at the nodes of a tree. A break ends the walk.
pub trait Visitor {
    /// What a break carries.
    type Break;

    /// Called before the parts of an expression.
    fn pre_visit_expr(&mut self, _expr: &Expr) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of an expression.
    fn post_visit_expr(&mut self, _expr: &Expr) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of a query.
    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of a query.
    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of a SELECT.
    fn pre_visit_select(&mut self, _select: &Select) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of an item of FROM, of a join too.
    fn pre_visit_from(&mut self, _item: &FromItem) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of an item of FROM.
    fn post_visit_from(&mut self, _item: &FromItem) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called at the name of a relation in FROM, behind TABLE, or that INSERT, UPDATE, DELETE or MERGE writes. It may
    /// be the name of a query of WITH.
    fn pre_visit_relation(&mut self, _name: &Name) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }
}

/// The same for nodes that change. The parts of a node are those that it has after the call before them.
pub trait VisitorMut {
    /// What a break carries.
    type Break;

    /// Called before the parts of an expression.
    fn pre_visit_expr(&mut self, _expr: &mut Expr) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of an expression.
    fn post_visit_expr(&mut self, _expr: &mut Expr) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of a query.
    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of a query.
    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of a SELECT.
    fn pre_visit_select(&mut self, _select: &mut Select) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called before the parts of an item of FROM, of a join too.
    fn pre_visit_from(&mut self, _item: &mut FromItem) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called behind the parts of an item of FROM. What it becomes then is not walked through.
    fn post_visit_from(&mut self, _item: &mut FromItem) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }

    /// Called at the name of a relation in FROM, behind TABLE, or that INSERT, UPDATE, DELETE or MERGE writes. It may
    /// be the name of a query of WITH.
    fn pre_visit_relation(&mut self, _name: &mut Name) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }
}

/// A node that a [`Visitor`] can walk through.
pub trait Visit {
    /// Walks through the node.
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break>;
}

/// A node that a [`VisitorMut`] can walk through.
pub trait VisitMut {
    /// Walks through the node.
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break>;
}

/// Calls `call` with every expression of a node, the outermost first, those of queries within it too.
pub fn visit_expressions<B, N, F>(node: &N, call: F) -> ControlFlow<B>
where
    N: Visit + ?Sized,
    F: FnMut(&Expr) -> ControlFlow<B>,
{
    node.visit(&mut Each { call, outcome: PhantomData })
}

/// The same for expressions that change. The parts of an expression are those that it has after the call.
pub fn visit_expressions_mut<B, N, F>(node: &mut N, call: F) -> ControlFlow<B>
where
    N: VisitMut + ?Sized,
    F: FnMut(&mut Expr) -> ControlFlow<B>,
{
    node.visit(&mut Each { call, outcome: PhantomData })
}

/// The visitor that calls a closure with every expression.
struct Each<F, B> {
    call: F,
    outcome: PhantomData<B>,
}

impl<B, F: FnMut(&Expr) -> ControlFlow<B>> Visitor for Each<F, B> {
    type Break = B;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<B> {
        (self.call)(expr)
    }
}

impl<B, F: FnMut(&mut Expr) -> ControlFlow<B>> VisitorMut for Each<F, B> {
    type Break = B;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<B> {
        (self.call)(expr)
    }
}

/// Both walks through structs: the fields in their order, between the calls of the visitor, if there are any.
macro_rules! fields {
    ($($node:ty $(, before: $pre:ident)? $(, behind: $post:ident)? => [$($field:ident),*];)*) => {$(
        impl $crate::visit::Visit for $node {
            #[allow(unused_variables)]
            fn visit<V: $crate::visit::Visitor>(&self, visitor: &mut V) -> std::ops::ControlFlow<V::Break> {
                $(visitor.$pre(self)?;)?
                $($crate::visit::Visit::visit(&self.$field, visitor)?;)*
                $(visitor.$post(self)?;)?
                std::ops::ControlFlow::Continue(())
            }
        }

        impl $crate::visit::VisitMut for $node {
            #[allow(unused_variables)]
            fn visit<V: $crate::visit::VisitorMut>(&mut self, visitor: &mut V) -> std::ops::ControlFlow<V::Break> {
                $(visitor.$pre(self)?;)?
                $($crate::visit::VisitMut::visit(&mut self.$field, visitor)?;)*
                $(visitor.$post(self)?;)?
                std::ops::ControlFlow::Continue(())
            }
        }
    )*};
}

/// Both walks through an enum: the parts that each pattern binds, between the calls of the visitor, if there are any.
/// All recursion goes through an enum, so the stack grows here.
macro_rules! variants {
    ($node:ty $(, before: $pre:ident, behind: $post:ident)?; $($pattern:pat => [$($part:ident),*],)*) => {
        impl $crate::visit::Visit for $node {
            fn visit<V: $crate::visit::Visitor>(&self, visitor: &mut V) -> std::ops::ControlFlow<V::Break> {
                $crate::deeper(|| {
                    $(visitor.$pre(self)?;)?
                    match self {
                        $($pattern => { $($crate::visit::Visit::visit($part, visitor)?;)* })*
                    }
                    $(visitor.$post(self)?;)?
                    std::ops::ControlFlow::Continue(())
                })
            }
        }

        impl $crate::visit::VisitMut for $node {
            fn visit<V: $crate::visit::VisitorMut>(&mut self, visitor: &mut V) -> std::ops::ControlFlow<V::Break> {
                $crate::deeper(|| {
                    $(visitor.$pre(self)?;)?
                    match self {
                        $($pattern => { $($crate::visit::VisitMut::visit($part, visitor)?;)* })*
                    }
                    $(visitor.$post(self)?;)?
                    std::ops::ControlFlow::Continue(())
                })
            }
        }
    };
}

use {fields, variants};

// A name stands for the relation of that name: other names are no part of the walk.
fields! {
    Name, before: pre_visit_relation => [];
    RelationName => [name];
    // The walk ends at these.
    TypeName => [];
    Operator => [];
}

impl<T: Visit + ?Sized> Visit for Box<T> {
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break> {
        (**self).visit(visitor)
    }
}

impl<T: VisitMut + ?Sized> VisitMut for Box<T> {
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        (**self).visit(visitor)
    }
}

impl<T: Visit> Visit for Option<T> {
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.iter().try_for_each(|node| node.visit(visitor))
    }
}

impl<T: VisitMut> VisitMut for Option<T> {
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.iter_mut().try_for_each(|node| node.visit(visitor))
    }
}

impl<T: Visit> Visit for [T] {
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.iter().try_for_each(|node| node.visit(visitor))
    }
}

impl<T: VisitMut> VisitMut for [T] {
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.iter_mut().try_for_each(|node| node.visit(visitor))
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.as_slice().visit(visitor)
    }
}

impl<T: VisitMut> VisitMut for Vec<T> {
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.as_mut_slice().visit(visitor)
    }
}

impl<A: Visit, B: Visit> Visit for (A, B) {
    fn visit<V: Visitor>(&self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.0.visit(visitor)?;
        self.1.visit(visitor)
    }
}

impl<A: VisitMut, B: VisitMut> VisitMut for (A, B) {
    fn visit<V: VisitorMut>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        self.0.visit(visitor)?;
        self.1.visit(visitor)
    }
}
