//! Columns of tables, with their constraints.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::span::Span;
use crate::tree::{Column, ColumnConstraint, ColumnConstraintKind as Kind, Deferral, Ident, IndexClauses, Name};

/// What stands behind the type of a column or domain.
pub(crate) struct Qualities {
    /// COLLATE.
    pub collation: Option<Name>,
    /// The rest, in order.
    pub constraints: Vec<ColumnConstraint>,
}

impl Parser<'_> {
    /// A column with its constraints (columnDef). Errors: 42601.
    pub fn column(&mut self) -> Result<Column> {
        let start = self.mark();
        let name = self.column_name()?;
        let data_type = Some(self.type_name()?);
        let compression = if self.word("compression") { Some(self.compression()?) } else { None };
        let here = self.here();
        if self.word("options") {
            self.expect_sign('(')?;
            return Err(SyntaxError::unsupported("OPTIONS of a column").at(here));
        }
        let Qualities { collation, constraints } = self.qualities(false)?;
        let span = self.span_since(start);
        Ok(Column { name, data_type, storage: None, compression, collation, constraints, span })
    }

    /// A column of a typed table or a partition (columnOptions). Errors: 42601.
    pub(crate) fn column_without_type(&mut self) -> Result<Column> {
        let start = self.mark();
        let name = self.column_name()?;
        if self.plain_with() {
            self.expect_word("options")?;
        }
        let Qualities { collation, constraints } = self.qualities(false)?;
        let span = self.span_since(start);
        Ok(Column { name, data_type: None, storage: None, compression: None, collation, constraints, span })
    }

    /// The method behind COMPRESSION. Errors: 42601.
    pub(crate) fn compression(&mut self) -> Result<Ident> {
        if self.is_word("default") { self.label() } else { self.column_name() }
    }

    /// COLLATE, constraints and properties in any order, until another word comes (ColQualList). PostgreSQL finds misplaced
    /// words about deferral later. The tree cannot say them. Errors: 42601; 0A000 for them in a domain.
    pub(crate) fn qualities(&mut self, of_domain: bool) -> Result<Qualities> {
        let mut qualities = Qualities { collation: None, constraints: Vec::new() };
        // PostgreSQL finds these when it has read all of them.
        let mut wrong = None;
        loop {
            let start = self.mark();
            let here = self.here();
            if self.word("collate") {
                if qualities.collation.replace(self.name()?).is_some() {
                    wrong.get_or_insert(SyntaxError::syntax("multiple COLLATE clauses not allowed").at(here));
                }
            } else if let Some(word) = self.deferral_word()? {
                let span = self.span_since(start);
                let found =
                    if of_domain { refuse_deferral() } else { defer(qualities.constraints.last_mut(), word, span) };
                if let Err(error) = found {
                    wrong.get_or_insert(error);
                }
            } else if let Some(constraint) = self.column_constraint()? {
                qualities.constraints.push(constraint);
            } else {
                return wrong.map_or(Ok(qualities), Err);
            }
        }
    }

    /// DEFERRABLE, INITIALLY … or NOT DEFERRABLE, if it is next (ConstraintAttr).
    fn deferral_word(&mut self) -> Result<Option<DeferralWord>> {
        Ok(Some(match () {
            () if self.words(&["not", "deferrable"]) => DeferralWord::NotDeferrable,
            () if self.word("deferrable") => DeferralWord::Deferrable,
            () if self.word("initially") => match self.one_word_of(&["deferred", "immediate"]) {
                Some(0) => DeferralWord::Deferred,
                Some(_) => DeferralWord::Immediate,
                None => return Err(self.error()),
            },
            () => return Ok(None),
        }))
    }

    /// A constraint or property with its name, if it is next (ColConstraint).
    fn column_constraint(&mut self) -> Result<Option<ColumnConstraint>> {
        let start = self.mark();
        let name = if self.word("constraint") { Some(self.column_name()?) } else { None };
        let Some(kind) = self.column_constraint_kind()? else {
            return if name.is_some() { Err(self.error()) } else { Ok(None) };
        };
        let span = self.span_since(start);
        Ok(Some(ColumnConstraint { name, kind, deferral: Deferral::default(), span }))
    }

    /// The kinds of constraints (ColConstraintElem).
    fn column_constraint_kind(&mut self) -> Result<Option<Kind>> {
        Ok(Some(match () {
            () if self.is_not_before_operator() => return Ok(None),
            () if self.word("not") => {
                self.expect_word("null")?;
                Kind::NotNull
            }
            () if self.word("null") => Kind::Null,
            () if self.word("default") => Kind::Default(self.restricted_expr()?),
            () if self.word("check") => {
                self.expect_sign('(')?;
                let condition = self.expr()?;
                self.expect_sign(')')?;
                let no_inherit = self.word("no");
                if no_inherit {
                    self.expect_word("inherit")?;
                }
                Kind::Check { condition, no_inherit }
            }
            () if self.word("generated") => self.generated()?,
            () if self.word("unique") => {
                let nulls_not_distinct = self.nulls_not_distinct()?;
                Kind::Unique(self.index_clauses(nulls_not_distinct, Vec::new())?)
            }
            () if self.word("primary") => {
                self.expect_word("key")?;
                Kind::PrimaryKey(self.index_clauses(false, Vec::new())?)
            }
            () if self.word("references") => Kind::References(self.references()?),
            () => return Ok(None),
        }))
    }

    /// Whether NOT belongs to an operator such as NOT IN. PostgreSQL reads it as another word then.
    fn is_not_before_operator(&self) -> bool {
        self.is_word("not") && ["between", "in", "like", "ilike", "similar"].iter().any(|word| self.is_word_at(1, word))
    }

    /// GENERATED … AS, of an expression or an identity.
    fn generated(&mut self) -> Result<Kind> {
        let start = self.mark();
        let always = self.generated_when()?;
        let when = self.span_since(start);
        self.expect_word("as")?;
        if self.word("identity") {
            return Ok(Kind::Identity { always, options: self.identity_options()? });
        }
        self.expect_sign('(')?;
        let value = self.expr()?;
        self.expect_sign(')')?;
        self.expect_word("stored")?;
        if !always {
            let message = "for a generated column, GENERATED ALWAYS must be specified";
            return Err(SyntaxError::syntax(message).at(when));
        }
        Ok(Kind::Generated { value, always })
    }

    /// ALWAYS (true) or BY DEFAULT (false) (generated_when). Errors: 42601.
    pub(crate) fn generated_when(&mut self) -> Result<bool> {
        let always = self.word("always");
        if !always {
            self.expect_words(&["by", "default"])?;
        }
        Ok(always)
    }

    /// The clauses of a constraint's index behind INCLUDE (opt_definition OptConsTableSpace). Errors: 42601.
    pub(crate) fn index_clauses(&mut self, nulls_not_distinct: bool, include: Vec<Ident>) -> Result<IndexClauses> {
        let options = if self.plain_with() { self.definition()? } else { Vec::new() };
        let mut tablespace = None;
        if self.word("using") {
            self.expect_words(&["index", "tablespace"])?;
            tablespace = Some(self.column_name()?);
        }
        Ok(IndexClauses { nulls_not_distinct, include, options, tablespace })
    }
}

#[derive(Clone, Copy)]
enum DeferralWord {
    Deferrable,
    NotDeferrable,
    Deferred,
    Immediate,
}

fn refuse_deferral() -> Result<()> {
    let message = "specifying constraint deferrability not supported for domains";
    Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message))
}

/// Adds a word about deferral to the constraint before it. Errors: 42601.
fn defer(constraint: Option<&mut ColumnConstraint>, word: DeferralWord, span: Span) -> Result<()> {
    let error = |message: String| Err(SyntaxError::syntax(message).at(span));
    let words = match word {
        DeferralWord::Deferrable => "DEFERRABLE",
        DeferralWord::NotDeferrable => "NOT DEFERRABLE",
        DeferralWord::Deferred => "INITIALLY DEFERRED",
        DeferralWord::Immediate => "INITIALLY IMMEDIATE",
    };
    let constraint = match constraint {
        Some(constraint) if matches!(constraint.kind, Kind::Unique(_) | Kind::PrimaryKey(_) | Kind::References(_)) => {
            constraint
        }
        _ => return error(format!("misplaced {words} clause")),
    };
    let deferral = &mut constraint.deferral;
    match word {
        DeferralWord::Deferrable | DeferralWord::NotDeferrable => {
            if deferral.deferrable.is_some() {
                return error("multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed".into());
            }
            deferral.deferrable = Some(matches!(word, DeferralWord::Deferrable));
        }
        DeferralWord::Deferred | DeferralWord::Immediate => {
            if deferral.deferred.is_some() {
                return error("multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed".into());
            }
            deferral.deferred = Some(matches!(word, DeferralWord::Deferred));
        }
    }
    if deferral.deferrable == Some(false) && deferral.deferred == Some(true) {
        return error("constraint declared INITIALLY DEFERRED must be DEFERRABLE".into());
    }
    constraint.span = constraint.span.to(span);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tree::{Deferral, Statement, TableElement};

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/column.sql"));
    }

    #[test]
    #[allow(clippy::panic)]
    fn words_about_deferral_belong_to_the_constraint_before_them() {
        let text = "create table t (a int constraint k primary key collate c deferrable not null references b initially deferred)";
        let Statement::CreateTable(table) = super::super::cases::only(text) else { panic!() };
        let [TableElement::Column(column)] = table.elements.as_slice() else { panic!() };
        let [key, _, reference] = column.constraints.as_slice() else { panic!() };
        assert_eq!(key.deferral, Deferral { deferrable: Some(true), deferred: None });
        assert_eq!(reference.deferral, Deferral { deferrable: None, deferred: Some(true) });
        let place = key.span.start as usize..key.span.end as usize;
        assert_eq!(&text[place], "constraint k primary key collate c deferrable");
        assert!(column.collation.is_some());
    }
}
