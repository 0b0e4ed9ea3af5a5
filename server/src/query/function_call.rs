//! FunctionCall: calls a function by its OID outside of SQL (PostgreSQL's manual, chapter 55.2.6). libpq and JDBC call
//! the functions of large objects this way. The server runs it as a SELECT of the function.

use super::retry::Tries;
use super::rows::{Formats, Rows};
use crate::connection::Connection;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::frontend::FunctionCall;
use crate::types::encode::BatchEncoder;
use crate::types::parameters;
use bytes::BytesMut;
use planner::pg_catalog::called_by_oid;
use planner::session::{Outcome, TransactionStatus};
use planner::types::text::{Moment, ObjectNames};
use planner::{SqlError, state};

/// Bytes before the only value of a DataRow: type, length and number of values.
const BEFORE_VALUE: usize = 7;

impl Connection {
    /// Calls the function and answers up to ReadyForQuery.
    pub(crate) async fn function_call(&mut self, call: &FunctionCall) -> Result<()> {
        self.backend.cancel.reset();
        self.out.begin_batch();
        let position = self.out.position();
        let repeatable = self.session.status() == TransactionStatus::Idle;
        let mut tries = Tries::default();
        self.session.set_retries(0);
        loop {
            match self.call_function(call).await {
                Ok(()) => break,
                Err(ConnectionError::Sql(error)) => {
                    if repeatable && !self.out.was_sent() && error.is_retryable() {
                        self.undo().await;
                        if tries.again(&error, &self.backend.cancel).await {
                            self.session.set_retries(tries.count());
                            self.session.take_notices();
                            self.out.take_back(position);
                            continue;
                        }
                    }
                    self.report(&error).await;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        self.ready().await
    }

    async fn call_function(&mut self, call: &FunctionCall) -> Result<()> {
        let Some(function) = called_by_oid(call.function) else {
            let message = format!("function with OID {} does not exist", call.function);
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message).into());
        };
        if !function.is_plain {
            let message = format!("cannot call function \"{}\" via fastpath interface", function.name);
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message).into());
        }
        let (given, wanted) = (call.arguments.len(), function.arguments.len());
        if given != wanted {
            let message = format!("function call message contains {given} arguments but function requires {wanted}");
            return Err(protocol_violation(message).into());
        }
        if call.argument_formats.len() > 1 && call.argument_formats.len() != given {
            let message = format!(
                "function call message contains {} argument formats but {given} arguments",
                call.argument_formats.len()
            );
            return Err(protocol_violation(message).into());
        }
        let Some(statement) = self.session.parse_again(&function.query())?.pop() else {
            return Err(SqlError::internal("a call of a function that is empty").into());
        };
        let prepared = self.session.prepare(statement, &function.arguments).await?;
        let values = {
            let (settings, catalog) = (self.session.settings(), self.session.catalog());
            let now = || self.session.transaction_time();
            let context =
                settings.text_input(catalog.as_deref().map(|catalog| catalog as &dyn ObjectNames), Moment::Asked(&now));
            let types = prepared.parameter_types();
            parameters::decode(types, &call.argument_formats, &call.arguments, self.encoding(), &context)?
        };
        let Outcome::Rows { columns, stream, tag } = self.run_prepared(&prepared, values).await? else {
            return Err(SqlError::internal("a call of a function without a result").into());
        };
        let formats = Formats::new(vec![call.result_format], Some(columns.len()))?;
        let mut rows = Rows::new(columns.clone(), formats.clone(), stream, tag);
        let mut row = BytesMut::new();
        while let Some(batch) = self.next_batch(&mut rows).await? {
            if batch.num_rows() == 0 || !row.is_empty() {
                continue;
            }
            let (settings, catalog) = (self.session.settings(), self.session.catalog());
            let context = settings.text_output(catalog.as_deref().map(|catalog| catalog as &dyn ObjectNames));
            BatchEncoder::new(&columns, &formats, &batch, settings.client_encoding(), context)?.encode(0, &mut row)?;
        }
        drop(rows);
        self.session.end_implicit().await?;
        self.send_notices();
        let value = row.get(BEFORE_VALUE..).ok_or_else(|| SqlError::internal("a call of a function without a row"))?;
        self.out.function_result(value);
        Ok(())
    }
}
