//! The walk through queries.

use super::{fields, variants};
use crate::tree::{
    CommonTable, Cycle, Distinct, FrameBound, FromItem, GroupBy, GroupItem, Join, JoinCondition, Limit, NamedWindow,
    Query, QueryBody, RowsFunction, Sample, Select, SetOperation, Target, WindowFrame, WindowSpec, With,
};

fields! {
    Query, before: pre_visit_query, behind: post_visit_query => [with, body, order_by, limit, offset, as_of];
    SetOperation => [arms];
    Select, before: pre_visit_select => [distinct, targets, from, filter, group_by, having, windows];
    Distinct => [on];
    Target => [value];
    RowsFunction => [call];
    Join => [left, right, condition];
    Sample => [arguments, seed];
    GroupBy => [items];
    NamedWindow => [spec];
    WindowSpec => [partition_by, order_by, frame];
    WindowFrame => [start, end];
    Limit => [count];
    With => [queries];
    CommonTable => [statement, cycle];
    Cycle => [values];
}

variants! {
    QueryBody;
    QueryBody::Select(select) => [select],
    QueryBody::Values(rows, _) => [rows],
    QueryBody::Table(relation, _) => [relation],
    QueryBody::Set(operation) => [operation],
    QueryBody::Nested(query) => [query],
}

variants! {
    FromItem, before: pre_visit_from, behind: post_visit_from;
    FromItem::Table { relation, sample, .. } => [relation, sample],
    FromItem::Query { query, .. } => [query],
    FromItem::Function { functions, .. } => [functions],
    FromItem::Join(join) => [join],
}

variants! {
    JoinCondition;
    JoinCondition::None | JoinCondition::Natural | JoinCondition::Using(..) => [],
    JoinCondition::On(condition) => [condition],
}

variants! {
    GroupItem;
    GroupItem::Empty(_) => [],
    GroupItem::Expr(value) => [value],
    GroupItem::Rollup(values, _) | GroupItem::Cube(values, _) => [values],
    GroupItem::Sets(items, _) => [items],
}

variants! {
    FrameBound;
    FrameBound::UnboundedPreceding | FrameBound::CurrentRow | FrameBound::UnboundedFollowing => [],
    FrameBound::Preceding(distance) | FrameBound::Following(distance) => [distance],
}
