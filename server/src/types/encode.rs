//! [`BatchEncoder`]: encodes the rows of one Arrow batch as DataRow messages.

use super::binary::{self, cast};
use crate::query::rows::Formats;
use bytes::{BufMut, BytesMut};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use planner::session::OutputColumn;
use planner::types::encoding::Encoding;
use planner::types::text::{self, OutputContext};
use planner::types::{BaseType, SqlType};
use planner::{SqlError, state};

/// Longest value and longest row in bytes: PostgreSQL's 1 GB less one.
const MAX_BYTES: usize = 0x3fff_ffff;

type Result<T> = std::result::Result<T, SqlError>;

/// Encodes the rows of one batch.
pub struct BatchEncoder<'a> {
    columns: Vec<Column<'a>>,
    encoding: Encoding,
    context: OutputContext<'a>,
    /// A value as text, before conversion to the client's encoding.
    text: Vec<u8>,
}

/// One column. Frequent types are distinguished once per batch instead of once per value.
struct Column<'a> {
    ty: SqlType,
    array: &'a ArrayRef,
    form: Form<'a>,
}

enum Form<'a> {
    Binary,
    Int4(&'a Int32Array),
    Int8(&'a Int64Array),
    Bool(&'a BooleanArray),
    Utf8(&'a StringArray),
    Text,
}

impl<'a> BatchEncoder<'a> {
    /// Creates an encoder for all rows of a batch. Errors: the batch's columns differ from the announced ones, which is
    /// a bug.
    pub fn new(
        columns: &[OutputColumn],
        formats: &Formats,
        batch: &'a RecordBatch,
        encoding: Encoding,
        context: OutputContext<'a>,
    ) -> Result<Self> {
        if columns.len() != batch.num_columns() {
            return Err(SqlError::internal(format!(
                "a plan gave {} columns where {} were announced",
                batch.num_columns(),
                columns.len()
            )));
        }
        let columns = columns
            .iter()
            .zip(batch.columns())
            .enumerate()
            .map(|(index, (column, array))| Column::new(column.ty, array, formats.code(index)))
            .collect::<Result<_>>()?;
        Ok(BatchEncoder { columns, encoding, context, text: Vec::new() })
    }

    /// Appends one row. After an error nothing was appended.
    pub fn encode(&mut self, row: usize, out: &mut BytesMut) -> Result<()> {
        let start = out.len();
        let encoded = self.encode_row(row, out);
        if encoded.is_err() {
            out.truncate(start);
        }
        encoded
    }

    fn encode_row(&mut self, row: usize, out: &mut BytesMut) -> Result<()> {
        out.put_u8(b'D');
        let start = out.len();
        out.put_u32(0);
        out.put_u16(u16::try_from(self.columns.len()).map_err(|_| too_long())?);
        for column in &self.columns {
            if column.array.is_null(row) {
                out.put_i32(-1);
                continue;
            }
            let value = out.len();
            out.put_u32(0);
            column.write(row, self.encoding, &self.context, &mut self.text, out)?;
            patch(out, value, out.len() - value - 4)?;
        }
        patch(out, start, out.len() - start)
    }
}

impl<'a> Column<'a> {
    fn new(ty: SqlType, array: &'a ArrayRef, format: i16) -> Result<Self> {
        let form = match (format, ty.array, ty.base) {
            (1, _, _) => Form::Binary,
            (_, false, BaseType::Int4) => Form::Int4(cast(array, ty)?),
            (_, false, BaseType::Int8) => Form::Int8(cast(array, ty)?),
            (_, false, BaseType::Bool) => Form::Bool(cast(array, ty)?),
            (_, false, BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name) => {
                Form::Utf8(cast(array, ty)?)
            }
            _ => Form::Text,
        };
        Ok(Column { ty, array, form })
    }

    fn write(
        &self,
        row: usize,
        encoding: Encoding,
        context: &OutputContext<'_>,
        bytes: &mut Vec<u8>,
        out: &mut BytesMut,
    ) -> Result<()> {
        match &self.form {
            Form::Binary => return binary::write(self.ty, self.array, row, encoding, out),
            Form::Int4(array) => {
                out.put_slice(itoa::Buffer::new().format(array.value(row)).as_bytes());
            }
            Form::Int8(array) => {
                out.put_slice(itoa::Buffer::new().format(array.value(row)).as_bytes());
            }
            Form::Bool(array) => out.put_u8(if array.value(row) { b't' } else { b'f' }),
            Form::Utf8(array) => out.put_slice(&encoding.encode(array.value(row))?),
            Form::Text => {
                bytes.clear();
                text::output(self.ty, self.array, row, context, bytes)?;
                match encoding.converts() {
                    true => out.put_slice(&encoding.encode(&String::from_utf8_lossy(bytes))?),
                    false => out.put_slice(bytes),
                }
            }
        }
        Ok(())
    }
}

fn patch(out: &mut BytesMut, at: usize, length: usize) -> Result<()> {
    if length > MAX_BYTES {
        return Err(too_long());
    }
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&(length as u32).to_be_bytes());
    }
    Ok(())
}

fn too_long() -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "row is too long for a message")
}
