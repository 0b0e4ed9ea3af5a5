//! [`StatementContext`]: a statement as the code that computes for it sees it. With it come the session ([`shared`]) and the
//! server ([`server`]), as far as functions, operators and system views may know them. Sessions and plans are layers above.

pub mod activity;
pub mod advisory;
pub mod cancel;
pub mod conflict;
pub mod contention;
pub mod contention_queue;
pub mod cursor_list;
pub mod exported;
pub mod held_rows;
pub mod large_object;
pub mod link;
pub mod lock_tag;
pub mod notice;
pub mod notification;
pub mod output_column;
pub mod part;
pub mod prepared;
pub mod private_settings;
pub mod random;
pub mod row_planner;
pub mod server;
pub mod shared;
pub mod slots;
pub mod system_view;
pub mod table_locks;
pub mod view_rows;
pub mod workers;

pub use slots::{Slots, StatementContext};
