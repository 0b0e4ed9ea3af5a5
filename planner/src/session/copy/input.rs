//! [`CopyIn`]: COPY FROM STDIN. Records become batches, and batches feed an INSERT that runs concurrently.

use super::binary::{BinaryCodec, BinaryReader};
use super::condition::{BoundCondition, CopyFilter};
use super::kept_plan::{CopyKey, KeptPlan};
use super::origin::{Origins, at_line, in_line, shown};
use super::record::{Fields, Kind, Next, RecordReader};
use super::target::{CopyTable, chosen};
use crate::bind::BoundKind;
use crate::catalog::ColumnDescriptor;
use crate::encoding::ColumnBuilder;
use crate::error::{Result, SqlError, state};
use crate::execution::dml::{FeedNode, InsertNode};
use crate::execution::{Slots, StatementContext};
use crate::parse::copy::{Copy, CopyFormat, CopyHeader, CopyTarget};
use crate::plan::PlanInstance;
use crate::session::database::Database;
use crate::session::query::bind_to;
use crate::session::run::count;
use crate::session::stream::Limits;
use crate::types::datetime::Reading;
use crate::types::encoding::Encoding;
use crate::types::text::with_input;
use bytes::Bytes;
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, col};
use futures::TryStreamExt;
use futures::future::BoxFuture;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The number of rows in a full batch.
const BATCH_ROWS: usize = 4096;
/// A batch with this many bytes of data is sent, however few rows it has.
const BATCH_BYTES: usize = 1 << 20;

/// A running `COPY … FROM STDIN`. Feed it, then call `finish` or `fail`. After dropping it unfinished, the caller
/// must fail the session.
pub struct CopyIn {
    table: String,
    columns: Vec<ColumnDescriptor>,
    format: CopyFormat,
    context: Arc<StatementContext>,
    reader: RecordReader,
    /// The decoder, for format binary.
    binary: Option<(BinaryCodec, BinaryReader)>,
    /// The encoding of the data.
    encoding: Encoding,
    fields: Fields,
    header: CopyHeader,
    /// Whether the header line was read.
    begun: bool,
    origins: Origins,
    filter: Option<CopyFilter>,
    force_not_null: Vec<bool>,
    force_null: Vec<bool>,
    builders: Vec<ColumnBuilder>,
    rows: usize,
    bytes: usize,
    schema: SchemaRef,
    sender: Option<mpsc::Sender<RecordBatch>>,
    /// The INSERT. It resolves to its number of rows.
    work: BoxFuture<'static, Result<u64>>,
    limits: Limits,
}

/// Begins a COPY FROM STDIN.
pub async fn begin_input(
    database: &Arc<Database>,
    copy: &Copy,
    context: Arc<StatementContext>,
    limits: &Limits,
) -> Result<CopyIn> {
    let CopyTarget::Table { name, columns } = &copy.target else {
        return Err(SqlError::syntax("COPY FROM needs a table"));
    };
    let table = CopyTable::table(&context, name, true)?;
    // PostgreSQL reports errors of the condition before those of the column list.
    let condition = copy.condition.as_ref().map(|condition| BoundCondition::new(&context, condition, &table));
    let condition = condition.transpose()?;
    let mut target = CopyTable::of(table, columns)?;
    let binary = match copy.options.format {
        CopyFormat::Binary => Some((database.binary()?, BinaryReader::default())),
        _ => None,
    };
    if binary.is_some() {
        // The INSERT applies the types' modifiers.
        target.columns.iter_mut().for_each(|column| column.ty = column.ty.plain());
    }
    let read = target.columns.clone();
    let filter = condition.map(|condition| CopyFilter::new(&context, condition, &mut target)).transpose()?;
    if read.is_empty() {
        return Err(SqlError::unsupported("COPY into a table without columns"));
    }
    let names: Vec<String> = read.iter().map(|column| column.name.clone()).collect();
    let fields: Vec<Field> = target
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| Field::new(source_column(at), column.ty.arrow(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let text = insert_text(&target);
    let types = target.columns.iter().map(|column| column.ty).collect();
    let key = CopyKey::new(text.clone(), types, &context);
    let kept = crate::session::copy::copied_by(&context.session).lock().take().filter(|kept| kept.key == key);
    let (mut instance, feed, sender, is_momentary) = match kept {
        Some(kept) => {
            let KeptPlan { instance, feed, .. } = *kept;
            let sender = feed.again();
            (instance, feed, sender, false)
        }
        None => {
            let (feed, sender) = FeedNode::new(schema.as_ref().clone())?;
            let slots = Slots::new();
            let (plan, is_momentary) =
                Reading::asks_for_now(|| insert_plan(&text, &target, &context, &slots, feed.clone()));
            let instance = PlanInstance::build(database.engine(), &plan?, slots).await?;
            (instance, feed, sender, is_momentary)
        }
    };
    crate::session::referential::references_of(&context.session).lock().begin();
    let stream = instance.start(context.clone())?;
    let (database, held) = (database.clone(), context.clone());
    let work = Box::pin(async move {
        let batches: Vec<RecordBatch> = stream.try_collect().await?;
        instance.finish()?;
        if !is_momentary {
            *crate::session::copy::copied_by(&held.session).lock() = Some(Box::new(KeptPlan { key, instance, feed }));
        }
        crate::session::referential::enforce(&database, &held).await?;
        count(&batches)
    });
    Ok(CopyIn {
        table: target.table.name.clone(),
        builders: builders(&read),
        format: copy.options.format,
        reader: RecordReader::new(&copy.options),
        binary,
        encoding: copy.options.encoding.unwrap_or(context.settings.client_encoding()),
        fields: Fields::default(),
        header: copy.options.header,
        begun: false,
        origins: Origins::default(),
        filter,
        force_not_null: chosen(&copy.options.force_not_null, "FORCE_NOT_NULL", &names, Some(&target.table))?,
        force_null: chosen(&copy.options.force_null, "FORCE_NULL", &names, Some(&target.table))?,
        columns: read,
        context,
        rows: 0,
        bytes: 0,
        schema,
        sender: Some(sender),
        work,
        limits: limits.clone(),
    })
}

fn source_column(position: usize) -> String {
    format!("copy{position}")
}

fn builders(columns: &[ColumnDescriptor]) -> Vec<ColumnBuilder> {
    columns.iter().map(|column| ColumnBuilder::new(column.ty, BATCH_ROWS)).collect()
}

/// The text of the INSERT, with one row of parameters.
fn insert_text(target: &CopyTable) -> String {
    let parameters: Vec<String> = (1..=target.columns.len()).map(|number| format!("${number}")).collect();
    format!(
        "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
        target.qualified_name(),
        target.column_list(),
        parameters.join(", ")
    )
}

/// The plan of the INSERT: that of `INSERT INTO t (a, b) VALUES ($1, $2)`, with the fed rows in place of its one row of
/// parameters. So defaults, casts and checks are those of INSERT.
fn insert_plan(
    text: &str,
    target: &CopyTable,
    context: &Arc<StatementContext>,
    slots: &Arc<Slots>,
    feed: FeedNode,
) -> Result<LogicalPlan> {
    let statement = crate::parse::parse(text)?
        .into_iter()
        .next()
        .ok_or_else(|| SqlError::internal("COPY made an empty statement"))?;
    let types: Vec<_> = target.columns.iter().map(|column| Some(column.ty)).collect();
    let bound = bind_to(&statement, &context.catalog, &context.settings, &types, context.transaction_time, slots)?;
    let BoundKind::Dml { plan, .. } = bound.kind else {
        return Err(SqlError::internal("COPY made something else than an INSERT"));
    };
    let leaf = LogicalPlan::Extension(Extension { node: Arc::new(feed) });
    let mut leaves = 0;
    let plan = plan.transform_up(|node| fed(node, &leaf, &mut leaves))?.data;
    if leaves != 1 {
        return Err(SqlError::internal("COPY's INSERT has not exactly one row of parameters"));
    }
    Ok(plan)
}

/// Replaces the row of parameters by the feed.
fn fed(
    node: LogicalPlan,
    leaf: &LogicalPlan,
    leaves: &mut usize,
) -> datafusion::error::Result<Transformed<LogicalPlan>> {
    match node {
        LogicalPlan::Values(values) => {
            *leaves += 1;
            let row = values.values.into_iter().next().unwrap_or_default();
            let exprs = row
                .into_iter()
                .zip(values.schema.iter())
                .map(|(expr, (qualifier, field))| {
                    Ok(parameters_to_columns(expr)?.data.alias_qualified(qualifier.cloned(), field.name()))
                })
                .collect::<datafusion::error::Result<Vec<_>>>()?;
            Ok(Transformed::yes(LogicalPlanBuilder::from(leaf.clone()).project(exprs)?.build()?))
        }
        LogicalPlan::EmptyRelation(_) => {
            *leaves += 1;
            Ok(Transformed::yes(leaf.clone()))
        }
        // The other expressions of the write have no parameters.
        LogicalPlan::Extension(extension) if extension.node.as_any().is::<InsertNode>() => {
            let inputs = extension.node.inputs().into_iter().cloned().collect();
            let node = extension.node.with_exprs_and_inputs(Vec::new(), inputs)?;
            Ok(Transformed::yes(LogicalPlan::Extension(Extension { node })))
        }
        other => {
            let mapped = other.map_expressions(parameters_to_columns)?;
            if mapped.transformed { mapped.map_data(LogicalPlan::recompute_schema) } else { Ok(mapped) }
        }
    }
}

fn parameters_to_columns(expr: Expr) -> datafusion::error::Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        let position = match &expr {
            Expr::Placeholder(placeholder) => {
                placeholder.id.strip_prefix('$').and_then(|number| number.parse::<usize>().ok())
            }
            _ => None,
        };
        match position.and_then(|number| number.checked_sub(1)) {
            Some(position) => Ok(Transformed::yes(col(source_column(position)))),
            None => Ok(Transformed::no(expr)),
        }
    })
}

impl CopyIn {
    /// The number of columns, for CopyInResponse.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }
    /// The format of the data, for CopyInResponse.
    pub fn format(&self) -> CopyFormat {
        self.format
    }
    /// Takes the bytes of one CopyData message, which may end anywhere. Waits while earlier rows are written. After an
    /// error the caller discards the rest of the client's data and fails the session.
    pub async fn data(&mut self, bytes: Bytes) -> Result<()> {
        if let Some((_, reader)) = &mut self.binary {
            reader.push(&bytes);
            return self.binary_records(false).await;
        }
        if self.encoding.converts() {
            // In this encoding each byte is a character, so a message may end anywhere.
            let text = self
                .encoding
                .decode(&bytes)
                .map_err(|error| error.context(format!("COPY {}, line {}", self.table, self.reader.lines() + 1)))?;
            self.reader.push(text.as_bytes())?;
        } else {
            self.reader.push(&bytes)?;
        }
        self.records(false).await
    }
    /// CopyDone: writes the remaining rows and returns the command tag.
    pub async fn finish(mut self) -> Result<String> {
        match self.binary {
            Some(_) => self.binary_records(true).await?,
            None => self.records(true).await?,
        }
        self.flush().await?;
        self.sender = None;
        let CopyIn { work, limits, table, origins, .. } = self;
        let rows = limits.run(work).await.map_err(|error| origins.explain(error, &table))?;
        Ok(format!("COPY {rows}"))
    }
    /// CopyFail or a lost client: abandons the COPY. Returns the error to report (57014).
    pub async fn fail(self, message: &str) -> SqlError {
        let line = self.binary.as_ref().map_or_else(|| self.reader.lines(), |(_, reader)| reader.line()) + 1;
        let context = at_line(&self.table, line);
        drop(self);
        SqlError::new(state::QUERY_CANCELED, format!("COPY from stdin failed: {message}")).context(context)
    }

    async fn records(&mut self, last: bool) -> Result<()> {
        loop {
            let next = self.reader.next(last, &mut self.fields).map_err(|error| {
                let line = self.reader.lines();
                let context = match self.reader.record().is_empty() {
                    true => at_line(&self.table, line),
                    false => in_line(&self.table, line, self.reader.record()),
                };
                error.context(context)
            })?;
            let Next::Record(line) = next else { return Ok(()) };
            if self.header != CopyHeader::No && !std::mem::replace(&mut self.begun, true) {
                self.check_header()?;
                continue;
            }
            self.append(line)?;
            if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
                self.flush().await?;
            }
        }
    }

    /// Reads the complete rows of format binary.
    async fn binary_records(&mut self, last: bool) -> Result<()> {
        loop {
            let Some((codec, reader)) = &mut self.binary else { return Ok(()) };
            let found = reader.next(self.columns.len(), last);
            let line = reader.line();
            let row = found.map_err(|error| match line {
                0 => error,
                line => error.context(format!("COPY {}, line {line}", self.table)),
            })?;
            let Some(row) = row else { return Ok(()) };
            for ((value, column), builder) in row.iter().zip(&self.columns).zip(&mut self.builders) {
                match value {
                    None => builder.append_null(),
                    Some(bytes) => {
                        self.bytes += bytes.len();
                        let value = (codec.read)(column.ty, bytes, self.encoding).map_err(|error| {
                            error.context(format!("COPY {}, line {line}, column {}", self.table, column.name))
                        })?;
                        builder.append_datum(&value)?;
                    }
                }
            }
            self.origins.push(line, &[]);
            self.rows += 1;
            if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
                self.flush().await?;
            }
        }
    }

    fn check_header(&self) -> Result<()> {
        if self.header != CopyHeader::Match {
            return Ok(());
        }
        let bad = |message: String| {
            SqlError::new(state::BAD_COPY_FILE_FORMAT, message).context(in_line(&self.table, 1, self.reader.record()))
        };
        if self.fields.len() != self.columns.len() {
            return Err(bad(format!(
                "wrong number of fields in header line: got {}, expected {}",
                self.fields.len(),
                self.columns.len()
            )));
        }
        for (position, column) in self.columns.iter().enumerate() {
            let (text, _) = self.fields.get(position).unwrap_or((b"", Kind::Plain));
            if text != column.name.as_bytes() {
                return Err(bad(format!(
                    "column name mismatch in header line field {}: got \"{}\", expected \"{}\"",
                    position + 1,
                    String::from_utf8_lossy(text),
                    column.name
                )));
            }
        }
        Ok(())
    }

    /// Adds the record in `fields` to the batch.
    fn append(&mut self, line: u64) -> Result<()> {
        if self.fields.len() > self.columns.len() {
            return Err(SqlError::new(state::BAD_COPY_FILE_FORMAT, "extra data after last expected column")
                .context(in_line(&self.table, line, self.reader.record())));
        }
        let inputs = self.context.text_input();
        let all = self.fields.as_text();
        for (position, (column, builder)) in self.columns.iter().zip(&mut self.builders).enumerate() {
            // Errors of the present fields come before that of a missing one.
            let Some((text, kind)) = self.fields.get(position) else {
                let message = format!("missing data for column \"{}\"", column.name);
                return Err(SqlError::new(state::BAD_COPY_FILE_FORMAT, message).context(in_line(
                    &self.table,
                    line,
                    self.reader.record(),
                )));
            };
            let null = match kind {
                Kind::Null => !self.force_not_null.get(position).is_some_and(|force| *force),
                Kind::QuotedNull => self.force_null.get(position).is_some_and(|force| *force),
                Kind::Plain | Kind::Quoted => false,
            };
            if null {
                builder.append_null();
                continue;
            }
            self.bytes += text.len();
            let text = match all.and_then(|all| self.fields.part(all, position)) {
                Some(text) => Cow::Borrowed(text),
                None => Encoding::Utf8
                    .decode(text)
                    .map_err(|error| error.context(in_line(&self.table, line, self.reader.record())))?,
            };
            with_input(column.ty, &text, &inputs, |value| builder.append(value)).map_err(|error| {
                let shown = shown(text.as_bytes());
                error.context(format!("COPY {}, line {line}, column {}: \"{shown}\"", self.table, column.name))
            })?;
        }
        self.origins.push(line, self.reader.record());
        self.rows += 1;
        Ok(())
    }

    /// Sends the batch to the INSERT, and runs the INSERT until it has received it.
    async fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut arrays = self.builders.iter_mut().map(ColumnBuilder::finish).collect::<Result<Vec<_>>>()?;
        if let Some(filter) = &self.filter {
            arrays.extend(filter.defaults(self.rows)?);
        }
        let mut batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        if let Some(filter) = &self.filter {
            let kept = filter
                .holds(batch.columns(), self.rows)
                .map_err(|(row, error)| error.context(self.origins.context_of(row, &self.table)))?;
            batch = filter_record_batch(&batch, &kept)?;
            self.origins.keep(|row| kept.value(row));
        }
        // Reserves the size of the batch before: a growing buffer is copied.
        let mut next = builders(&self.columns);
        next.iter_mut().zip(batch.columns()).for_each(|(builder, array)| builder.reserve_as_in(array));
        self.builders = next;
        (self.rows, self.bytes) = (0, 0);
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.origins.begin_batch();
        let sender = self.sender.as_ref().ok_or_else(|| SqlError::internal("COPY has ended"))?;
        let work = &mut self.work;
        let sent = async {
            tokio::select! {
                biased;
                result = work => Err(match result {
                    Ok(_) => SqlError::internal("the INSERT of a COPY ended early"),
                    Err(error) => error,
                }),
                permit = sender.reserve() => match permit {
                    Ok(permit) => {
                        permit.send(batch);
                        Ok(())
                    }
                    Err(_) => Err(SqlError::internal("the INSERT of a COPY is gone")),
                },
            }
        };
        self.limits.run(sent).await.map_err(|error| self.origins.explain(error, &self.table))
    }
}
