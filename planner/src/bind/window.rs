//! Window functions: OVER, named windows, frames.

use super::binder::Binder;
use super::expression::{Clause, Env};
use crate::error::{Result, SqlError, state};
use crate::functions::{TypedExpr, WindowCall};
use crate::parse::fold;
use crate::types::{Datum, SqlType};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits};
use sqlparser::ast::{self, NamedWindowExpr, WindowType};

/// A window's parts.
#[derive(Default)]
struct Window<'w> {
    partition_by: &'w [ast::Expr],
    order_by: &'w [ast::OrderByExpr],
    frame: Option<&'w ast::WindowFrame>,
}

impl Binder<'_> {
    /// A call with OVER.
    pub fn window_call(
        &self,
        function: &ast::Function,
        name: &str,
        over: &WindowType,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if !matches!(env.clause, Clause::Select | Clause::OrderBy) {
            let message = match env.clause {
                Clause::Window | Clause::Aggregate => "window function calls cannot be nested".to_string(),
                Clause::JoinOn => "window functions are not allowed in JOIN conditions".to_string(),
                clause => format!("window functions are not allowed in {}", clause.name()),
            };
            return Err(SqlError::new(state::WINDOWING_ERROR, message));
        }
        let inner = env.within(Clause::Window);
        let arguments = self.arguments(function, inner)?;
        if !arguments.order_by.is_empty() {
            let message = "aggregate ORDER BY is not implemented for window functions";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let filter = match &function.filter {
            Some(filter) => {
                let typed = self.expr(filter, inner)?;
                Some(self.condition(typed, "FILTER", filter)?)
            }
            None => None,
        };
        if arguments.star && name != "count" {
            let message = format!("function {name}() does not exist");
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        let window = match over {
            WindowType::NamedWindow(name) => named(&fold(name), env.windows, 0)?,
            WindowType::WindowSpec(spec) => specified(spec, env.windows, 0)?,
        };
        let mut partition_by = Vec::new();
        for expr in window.partition_by {
            let typed = self.settled_expr(expr, inner)?;
            partition_by.push(self.resolver.group_key(typed));
        }
        let order_by: Vec<Sort> =
            window.order_by.iter().map(|item| self.sort_item(item, inner)).collect::<Result<_>>()?;
        let frame = self.frame(window.frame, &order_by)?;
        let call = WindowCall { partition_by, order_by, frame, filter, distinct: arguments.distinct };
        self.resolver.window_function(name, arguments.values, call)
    }

    /// An expression whose type must be known.
    pub fn settled_expr(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let typed = self.expr(expr, env)?;
        self.settle(typed)
    }

    fn frame(&self, frame: Option<&ast::WindowFrame>, order_by: &[Sort]) -> Result<WindowFrame> {
        let Some(frame) = frame else {
            return Ok(WindowFrame::new((!order_by.is_empty()).then_some(false)));
        };
        let units = match frame.units {
            ast::WindowFrameUnits::Rows => WindowFrameUnits::Rows,
            ast::WindowFrameUnits::Range => WindowFrameUnits::Range,
            ast::WindowFrameUnits::Groups => WindowFrameUnits::Groups,
        };
        if units == WindowFrameUnits::Groups && order_by.is_empty() {
            return Err(SqlError::new(state::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"));
        }
        let start = self.bound(&frame.start_bound, units, true)?;
        let end = match &frame.end_bound {
            Some(bound) => self.bound(bound, units, false)?,
            None => WindowFrameBound::CurrentRow,
        };
        let rank = |bound: &WindowFrameBound| match bound {
            WindowFrameBound::Preceding(_) => 0,
            WindowFrameBound::CurrentRow => 1,
            WindowFrameBound::Following(_) => 2,
        };
        if rank(&start) > rank(&end) {
            let message = if rank(&start) == 1 {
                "frame starting from current row cannot have preceding rows"
            } else if rank(&end) == 1 {
                "frame starting from following row cannot end with current row"
            } else {
                "frame starting from following row cannot have preceding rows"
            };
            return Err(SqlError::new(state::WINDOWING_ERROR, message));
        }
        // RANGE without ORDER BY: all rows are peers.
        if units == WindowFrameUnits::Range && order_by.is_empty() {
            return Ok(WindowFrame::new(None));
        }
        Ok(WindowFrame::new_bounds(units, start, end))
    }

    fn bound(&self, bound: &ast::WindowFrameBound, units: WindowFrameUnits, start: bool) -> Result<WindowFrameBound> {
        let preceding = matches!(bound, ast::WindowFrameBound::Preceding(_));
        let offset = match bound {
            ast::WindowFrameBound::CurrentRow => return Ok(WindowFrameBound::CurrentRow),
            ast::WindowFrameBound::Preceding(offset) | ast::WindowFrameBound::Following(offset) => offset,
        };
        let value = match offset {
            None if preceding && !start => {
                return Err(SqlError::new(state::WINDOWING_ERROR, "frame end cannot be UNBOUNDED PRECEDING"));
            }
            None if !preceding && start => {
                return Err(SqlError::new(state::WINDOWING_ERROR, "frame start cannot be UNBOUNDED FOLLOWING"));
            }
            None if units == WindowFrameUnits::Range => Datum::Null,
            None => Datum::UInt64(None),
            Some(_) if units == WindowFrameUnits::Range => {
                return Err(SqlError::unsupported("RANGE with an offset"));
            }
            Some(expr) => {
                let typed = self.constant(expr, "window frame offsets")?;
                let value = match self.coerce(typed, SqlType::INT8)?.expr {
                    Expr::Literal(Datum::Int64(value), _) => value,
                    _ => return Err(SqlError::unsupported("a window frame offset that is not a constant")),
                };
                let Some(value) = value else {
                    let side = if start { "starting" } else { "ending" };
                    let message = format!("frame {side} offset must not be null");
                    return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message));
                };
                let Ok(value) = u64::try_from(value) else {
                    let side = if start { "starting" } else { "ending" };
                    let message = format!("frame {side} offset must not be negative");
                    return Err(SqlError::new("22013", message));
                };
                Datum::UInt64(Some(value))
            }
        };
        Ok(if preceding { WindowFrameBound::Preceding(value) } else { WindowFrameBound::Following(value) })
    }
}

fn named<'w>(name: &str, windows: &'w [ast::NamedWindowDefinition], depth: usize) -> Result<Window<'w>> {
    let found = windows.iter().find(|window| fold(&window.0) == name);
    match found.map(|window| &window.1) {
        Some(_) if depth > windows.len() => {
            Err(SqlError::new(state::WINDOWING_ERROR, format!("window \"{name}\" refers to itself")))
        }
        Some(NamedWindowExpr::NamedWindow(other)) => named(&fold(other), windows, depth + 1),
        Some(NamedWindowExpr::WindowSpec(spec)) => specified(spec, windows, depth + 1),
        None => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("window \"{name}\" does not exist"))),
    }
}

fn specified<'w>(
    spec: &'w ast::WindowSpec,
    windows: &'w [ast::NamedWindowDefinition],
    depth: usize,
) -> Result<Window<'w>> {
    let Some(base) = &spec.window_name else {
        return Ok(Window {
            partition_by: &spec.partition_by,
            order_by: &spec.order_by,
            frame: spec.window_frame.as_ref(),
        });
    };
    let name = fold(base);
    let base = named(&name, windows, depth + 1)?;
    let error = |message: String| Err(SqlError::new(state::WINDOWING_ERROR, message));
    if !spec.partition_by.is_empty() {
        return error(format!("cannot override PARTITION BY clause of window \"{name}\""));
    }
    if !spec.order_by.is_empty() && !base.order_by.is_empty() {
        return error(format!("cannot override ORDER BY clause of window \"{name}\""));
    }
    if base.frame.is_some() {
        return error(format!("cannot copy window \"{name}\" because it has a frame clause"));
    }
    let order_by = if spec.order_by.is_empty() { base.order_by } else { &spec.order_by };
    Ok(Window { partition_by: base.partition_by, order_by, frame: spec.window_frame.as_ref() })
}
