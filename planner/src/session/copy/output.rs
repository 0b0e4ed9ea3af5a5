//! [`CopyOut`]: COPY TO STDOUT. Turns batches into lines.

use super::binary::{BinaryCodec, TRAILER, header};
use super::target::{CopyTable, chosen};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::parse::copy::{Copy, CopyFormat, CopyHeader, CopyOptions, CopyTarget};
use crate::session::database::Database;
use crate::session::outcome::{Outcome, OutputColumn};
use crate::session::query::{PlannedQuery, QueryKind};
use crate::session::referential::enforce;
use crate::session::run::run_planned;
use crate::session::stream::Limits;
use crate::types::encoding::Encoding;
use crate::types::text::{OutputContext, output};
use bytes::{BufMut, Bytes, BytesMut};
use datafusion::arrow::record_batch::RecordBatch;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::sync::Arc;

/// A running `COPY … TO STDOUT`.
pub struct CopyOut {
    /// The number of columns, for CopyOutResponse.
    pub columns: usize,
    /// The format of the data, for CopyOutResponse.
    pub format: CopyFormat,
    /// The data. Each item holds whole lines. The server sends it as one CopyData message or splits it at will.
    pub stream: BoxStream<'static, Result<CopyChunk>>,
}

/// A piece of COPY TO data.
#[derive(Clone, Debug)]
pub struct CopyChunk {
    /// The bytes of whole lines.
    pub bytes: Bytes,
    /// The end offset of each line: drivers take one CopyData message for one row.
    pub ends: Vec<usize>,
    /// The number of rows in the piece. Header lines do not count. The tag is `COPY` and the sum.
    pub rows: u64,
}

impl CopyChunk {
    /// The same with `first` prepended to its first line.
    fn behind(self, first: Vec<u8>) -> CopyChunk {
        let ends = self.ends.iter().map(|end| first.len() + end).collect();
        CopyChunk { bytes: [&first, self.bytes.as_ref()].concat().into(), ends, rows: self.rows }
    }
}

/// Begins COPY TO STDOUT. `planned` is the query, or `None` for a table. Errors: 25006 for a query that writes if
/// `read_only`, and those of the query.
pub async fn begin_output(
    database: &Arc<Database>,
    copy: &Copy,
    planned: Option<Arc<PlannedQuery>>,
    context: Arc<StatementContext>,
    read_only: bool,
    limits: &Limits,
) -> Result<CopyOut> {
    let mut table = None;
    let planned = match (planned, &copy.target) {
        (Some(planned), _) => planned,
        (None, CopyTarget::Table { name, columns }) => {
            let target = CopyTable::of(CopyTable::table(&context, name, false)?, columns)?;
            let text = format!("SELECT {} FROM {}", target.column_list(), target.qualified_name());
            table = Some(target.table);
            let statement = crate::parse::parse(&text)?
                .into_iter()
                .next()
                .ok_or_else(|| SqlError::internal("COPY made an empty statement"))?;
            let (catalog, settings) = (&context.catalog, &context.settings);
            let now = context.transaction_time;
            Arc::new(PlannedQuery::new(database.engine(), &Arc::new(statement), catalog, settings, &[], now)?)
        }
        (None, CopyTarget::Query(_)) => return Err(SqlError::internal("COPY without a query")),
    };
    if matches!(planned.kind, QueryKind::Write { returning: false, .. }) {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause"));
    }
    crate::session::referential::references_of(&context.session).lock().begin();
    let outcome = run_planned(&planned, context.clone(), read_only, limits).await?;
    // A writing query has ended before its first row is sent.
    Box::pin(enforce(database, &context)).await?;
    let Outcome::Rows { columns, stream, .. } = outcome else {
        return Err(SqlError::internal("a query of COPY answered no rows"));
    };
    let encoding = copy.options.encoding.unwrap_or(context.settings.client_encoding());
    if copy.options.format == CopyFormat::Binary {
        let (codec, shown) = (database.binary()?, columns.len());
        // The header is sent with the first row or the trailer. Drivers that take one message for one row expect it
        // there.
        let mut header = Some(header());
        let data = stream.map(move |batch| binary_rows(&codec, &columns, encoding, &batch?));
        let last = futures::stream::iter([Ok(CopyChunk {
            ends: vec![TRAILER.len()],
            bytes: Bytes::from_static(&TRAILER),
            rows: 0,
        })]);
        let stream = data.chain(last).map(move |chunk| {
            let chunk = chunk?;
            let first = header.take_if(|_| !chunk.ends.is_empty());
            Ok(match first {
                Some(first) => chunk.behind(first),
                None => chunk,
            })
        });
        let stream = stream.boxed();
        return Ok(CopyOut { columns: shown, format: CopyFormat::Binary, stream });
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let writer = LineWriter {
        force_quote: chosen(&copy.options.force_quote, "FORCE_QUOTE", &names, table.as_deref())?,
        options: copy.options.clone(),
        columns: columns.clone(),
        encoding,
        context,
    };
    let header = (copy.options.header != CopyHeader::No).then(|| {
        let mut line = Vec::new();
        for (position, name) in names.iter().enumerate() {
            writer.field(position, Some(name.as_bytes()), false, &mut line);
        }
        line.push(b'\n');
        let line = writer.encoded(line)?;
        Ok(CopyChunk { ends: vec![line.len()], bytes: line.into(), rows: 0 })
    });
    let data = stream.flat_map(move |batch| {
        let pieces = match batch {
            Ok(batch) => writer.lines(&batch),
            Err(error) => vec![Err(error.into())],
        };
        futures::stream::iter(pieces)
    });
    Ok(CopyOut {
        columns: columns.len(),
        format: copy.options.format,
        stream: futures::stream::iter(header).chain(data).boxed(),
    })
}

/// The rows of a batch in format binary.
fn binary_rows(
    codec: &BinaryCodec,
    columns: &[OutputColumn],
    encoding: Encoding,
    batch: &RecordBatch,
) -> Result<CopyChunk> {
    let too_long = || SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "a COPY row is too long");
    let count = i16::try_from(columns.len()).map_err(|_| too_long())?;
    let mut bytes = BytesMut::with_capacity(batch.num_rows() * 16);
    let mut ends = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        bytes.put_i16(count);
        for (column, array) in columns.iter().zip(batch.columns()) {
            let start = bytes.len();
            bytes.put_i32(-1);
            if array.is_null(row) {
                continue;
            }
            (codec.write)(column.ty, array.as_ref(), row, encoding, &mut bytes)?;
            let length = i32::try_from(bytes.len() - start - 4).map_err(|_| too_long())?;
            if let Some(place) = bytes.get_mut(start..start + 4) {
                place.copy_from_slice(&length.to_be_bytes());
            }
        }
        ends.push(bytes.len());
    }
    Ok(CopyChunk { bytes: bytes.freeze(), ends, rows: batch.num_rows() as u64 })
}

struct LineWriter {
    options: CopyOptions,
    columns: Arc<[OutputColumn]>,
    force_quote: Vec<bool>,
    encoding: Encoding,
    context: Arc<StatementContext>,
}

impl LineWriter {
    /// The lines of a batch. If a row cannot be written, the lines before it precede the error.
    fn lines(&self, batch: &RecordBatch) -> Vec<Result<CopyChunk>> {
        let outputs = self.context.text_output();
        let mut bytes = Vec::with_capacity(batch.num_rows() * 16);
        let mut ends = Vec::with_capacity(batch.num_rows());
        let (mut value, mut line) = (Vec::new(), Vec::new());
        let mut failed = None;
        for row in 0..batch.num_rows() {
            line.clear();
            if let Err(error) = self.line(batch, row, &outputs, &mut value, &mut line) {
                failed = Some(Err(error));
                break;
            }
            bytes.extend_from_slice(&line);
            ends.push(bytes.len());
        }
        let rows = ends.len() as u64;
        let chunk = (rows > 0 || failed.is_none()).then(|| Ok(CopyChunk { bytes: bytes.into(), ends, rows }));
        chunk.into_iter().chain(failed).collect()
    }

    fn line(
        &self,
        batch: &RecordBatch,
        row: usize,
        outputs: &OutputContext<'_>,
        value: &mut Vec<u8>,
        line: &mut Vec<u8>,
    ) -> Result<()> {
        for (position, (column, array)) in self.columns.iter().zip(batch.columns()).enumerate() {
            if array.is_null(row) {
                self.field(position, None, false, line);
            } else {
                value.clear();
                output(column.ty, array.as_ref(), row, outputs, value)?;
                let force = self.force_quote.get(position).is_some_and(|force| *force);
                self.field(position, Some(value), force, line);
            }
        }
        line.push(b'\n');
        if self.encoding.converts() {
            *line = self.encoded(std::mem::take(line))?;
        }
        Ok(())
    }

    /// Encodes a line for the data. Errors: 22P05.
    fn encoded(&self, line: Vec<u8>) -> Result<Vec<u8>> {
        if !self.encoding.converts() {
            return Ok(line);
        }
        let text = String::from_utf8(line).map_err(SqlError::internal)?;
        Ok(self.encoding.encode(&text)?.into_owned())
    }

    fn field(&self, position: usize, value: Option<&[u8]>, force: bool, line: &mut Vec<u8>) {
        if position > 0 {
            line.push(self.options.delimiter);
        }
        match (value, self.options.format) {
            (None, _) => line.extend_from_slice(self.options.null.as_bytes()),
            (Some(value), CopyFormat::Text | CopyFormat::Binary) => escape_text(value, self.options.delimiter, line),
            (Some(value), CopyFormat::Csv) => self.csv(value, force, line),
        }
    }

    fn csv(&self, value: &[u8], force: bool, line: &mut Vec<u8>) {
        let CopyOptions { delimiter, quote, escape, .. } = self.options;
        let special = |byte: &u8| *byte == delimiter || *byte == quote || matches!(byte, b'\n' | b'\r');
        let lone_end = self.columns.len() == 1 && value == b"\\.";
        if !force && !lone_end && value != self.options.null.as_bytes() && !value.iter().any(special) {
            line.extend_from_slice(value);
            return;
        }
        line.push(quote);
        for byte in value {
            if *byte == quote || *byte == escape {
                line.push(escape);
            }
            line.push(*byte);
        }
        line.push(quote);
    }
}

/// Escapes text as COPY writes it.
fn escape_text(value: &[u8], delimiter: u8, line: &mut Vec<u8>) {
    for byte in value {
        let letter = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            b'\\' => b'\\',
            other => {
                if *other == delimiter {
                    line.push(b'\\');
                }
                line.push(*other);
                continue;
            }
        };
        line.extend_from_slice(&[b'\\', letter]);
    }
}
