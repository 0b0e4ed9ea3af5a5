//! Random items of FROM.

use super::{Choices, made};
use percosql_grammar::Span;
use percosql_grammar::tree::{
    Alias, CastForm, ColumnDefinition, Expr, ExprKind, FromItem, Join, JoinCondition, JoinKind, RelationName,
    RowsFunction, Sample, SpecialCall,
};

impl Choices {
    pub fn joined(&mut self) -> FromItem {
        if self.is_deep() {
            return self.table_item();
        }
        self.deeper(|choices| match choices.below(8) {
            0..=2 => choices.table_item(),
            3 => {
                let (lateral, query) = (choices.flag(), Box::new(choices.query()));
                FromItem::Query { lateral, query, alias: Some(choices.alias()), span: Span::NONE }
            }
            4 => choices.function_item(),
            _ => FromItem::Join(Box::new(choices.join())),
        })
    }

    fn table_item(&mut self) -> FromItem {
        FromItem::Table {
            relation: self.relation(),
            alias: self.option(Choices::alias),
            sample: if self.is_deep() { None } else { self.option(Choices::sample) },
            span: Span::NONE,
        }
    }

    pub fn relation(&mut self) -> RelationName {
        RelationName { only: self.rarely(), name: self.name() }
    }

    fn alias(&mut self) -> Alias {
        let columns = if self.rarely() { self.idents(1) } else { Vec::new() };
        Alias { name: Some(self.ident()), columns, definitions: Vec::new(), span: Span::NONE }
    }

    fn definitions(&mut self) -> Vec<ColumnDefinition> {
        self.list(1, |choices| ColumnDefinition {
            name: choices.ident(),
            data_type: choices.type_name(),
            collation: choices.option(Choices::name),
        })
    }

    fn sample(&mut self) -> Sample {
        let seed = self.option(Choices::expr);
        Sample { method: self.name(), arguments: self.exprs(1), seed, span: Span::NONE }
    }

    /// A call without a window, of any form.
    fn function(&mut self) -> Expr {
        made(match self.below(4) {
            0 | 1 => ExprKind::Call(Box::new(self.call(false))),
            2 => match self.special_call() {
                // No function of FROM.
                SpecialCall::Grouping(values) => ExprKind::Special(Box::new(SpecialCall::Greatest(values))),
                call => ExprKind::Special(Box::new(call)),
            },
            _ => ExprKind::Cast {
                operand: Box::new(self.expr()),
                data_type: self.type_name(),
                form: CastForm::Cast,
                at: Span::NONE,
            },
        })
    }

    fn function_item(&mut self) -> FromItem {
        let rows_from = self.flag();
        let functions = if rows_from {
            self.list(1, |choices| RowsFunction {
                call: choices.function(),
                definitions: if choices.rarely() { choices.definitions() } else { Vec::new() },
            })
        } else {
            vec![RowsFunction { call: self.function(), definitions: Vec::new() }]
        };
        let alias = match self.below(4) {
            0 => None,
            1 | 2 => Some(self.alias()),
            _ => {
                let (name, definitions) = (self.option(Choices::ident), self.definitions());
                Some(Alias { name, columns: Vec::new(), definitions, span: Span::NONE })
            }
        };
        let (lateral, ordinality) = (self.flag(), self.rarely());
        FromItem::Function { lateral, rows_from, functions, ordinality, alias, span: Span::NONE }
    }

    fn join(&mut self) -> Join {
        use JoinKind::*;
        let (left, right) = (self.joined(), self.joined());
        let kind = self.one_of(&[Inner, Left, Right, Full]);
        let (kind, condition) = match self.below(4) {
            0 => (Cross, JoinCondition::None),
            1 => (kind, JoinCondition::Natural),
            2 => (kind, JoinCondition::On(self.expr())),
            _ => (kind, JoinCondition::Using(self.idents(1), self.option(Choices::ident))),
        };
        let alias = self.option(Choices::alias);
        Join { left, kind, right, condition, alias, span: Span::NONE }
    }
}
