//! [`Kernel`]: the computation of a scalar function, and its DataFusion wrapper.

use super::TypedExpr;
use super::typed::{Column, SqlRead};
use context::{Slots, StatementContext};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::expr::ScalarFunction as ScalarFunctionExpr;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use sql_error::value_size;
use sql_error::{Result, SqlError};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::{Ctype, SqlType};

/// How long a function's result stays valid, from the longest to the shortest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stability {
    /// Depends on the arguments alone, so it is folded while planning.
    Immutable,
    /// The same within one statement. It is not folded, because plans outlive statements, but is computed once for
    /// constant arguments.
    Stable,
    /// May differ in each row, so it is computed for every row.
    Volatile,
}

/// One evaluation of a function over a batch.
pub struct Call<'a> {
    /// Number of rows to compute.
    pub rows: usize,
    /// Arguments: arrays of `rows` values, or of one value that applies to every row.
    pub arguments: &'a [ArrayRef],
    /// SQL types of the arguments.
    pub types: &'a [SqlType],
    /// SQL type of the result.
    pub result: SqlType,
    slots: Option<&'a Arc<Slots>>,
    ctype: Option<Ctype>,
}

impl Call<'_> {
    /// The context of the current statement. Errors: XX000 outside an execution.
    pub fn context(&self) -> Result<Arc<StatementContext>> {
        match self.slots {
            Some(slots) => slots.get(),
            None => Err(SqlError::internal("a function that needs its session was made without slots")),
        }
    }
    /// The character classification of the statement's database. Errors: XX000 if the function was made without it.
    pub fn ctype(&self) -> Result<Ctype> {
        self.ctype.ok_or_else(|| SqlError::internal("a function that knows letters was made without LC_CTYPE"))
    }
    /// An argument as a column of type `T`. Errors: XX000 for another Arrow type.
    pub fn column<T: SqlRead>(&self, argument: usize) -> Result<Column<'_, T>> {
        Column::new(self.array(argument)?)
    }
    /// An argument as an Arrow array. Errors: XX000 if there is no such argument.
    pub fn array(&self, argument: usize) -> Result<&ArrayRef> {
        self.arguments.get(argument).ok_or_else(|| SqlError::internal("a function lacks an argument"))
    }
    /// The same call over the elements of an array argument.
    pub fn nested<'b>(&'b self, arguments: &'b [ArrayRef], types: &'b [SqlType], result: SqlType) -> Call<'b> {
        let rows = arguments.first().map_or(0, |array| array.len());
        Call { rows, arguments, types, result, slots: self.slots, ctype: self.ctype }
    }
    /// The same call over another number of rows.
    pub fn with_rows(&self, rows: usize) -> Call<'_> {
        Call {
            rows,
            arguments: self.arguments,
            types: self.types,
            result: self.result,
            slots: self.slots,
            ctype: self.ctype,
        }
    }
    /// The row of an argument's array that applies to `row`.
    pub fn row_of(array: &ArrayRef, row: usize) -> usize {
        if array.len() == 1 { 0 } else { row }
    }
}

/// The computation of a scalar function. It returns an array of `rows` values.
pub type Kernel = Arc<dyn Fn(&Call<'_>) -> Result<ArrayRef> + Send + Sync>;

/// A scalar function that runs a [`Kernel`].
#[derive(Clone)]
pub struct KernelFunction {
    name: String,
    types: Vec<SqlType>,
    result: SqlType,
    stability: Stability,
    signature: Signature,
    kernel: Kernel,
    slots: Option<Arc<Slots>>,
    strict: bool,
    ctype: Option<Ctype>,
}

impl KernelFunction {
    /// Makes a function. Functions with different kernels must differ in their names or types.
    pub fn new(
        name: impl Into<String>,
        types: Vec<SqlType>,
        result: SqlType,
        stability: Stability,
        kernel: Kernel,
        slots: Option<Arc<Slots>>,
    ) -> Self {
        let volatility = match stability {
            Stability::Immutable => Volatility::Immutable,
            // DataFusion would fold stable functions while planning.
            Stability::Stable | Stability::Volatile => Volatility::Volatile,
        };
        let signature = if types.is_empty() {
            TypeSignature::Nullary
        } else {
            TypeSignature::Exact(types.iter().map(SqlType::arrow).collect())
        };
        KernelFunction {
            name: name.into(),
            types,
            result,
            stability,
            signature: Signature::new(signature, volatility),
            kernel,
            slots,
            strict: false,
            ctype: None,
        }
    }
    /// Sets the database's character classification, for a kernel that calls [`Call::ctype`].
    pub fn with_ctype(mut self, ctype: Ctype) -> Self {
        self.ctype = Some(ctype);
        self
    }
    /// Sets whether the result is NULL if an argument is. The planner then skips the call if it knows of a NULL.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
    /// Whether the result is NULL if an argument is.
    pub fn is_strict(&self) -> bool {
        self.strict
    }
    /// SQL type of the result.
    pub fn result(&self) -> SqlType {
        self.result
    }
    /// How long the result stays valid.
    pub fn stability(&self) -> Stability {
        self.stability
    }
    /// An expression that calls this function.
    pub fn call(self, arguments: Vec<Expr>) -> TypedExpr {
        let ty = self.result;
        TypedExpr::new(
            Expr::ScalarFunction(ScalarFunctionExpr::new_udf(Arc::new(ScalarUDF::new_from_impl(self)), arguments)),
            ty,
        )
    }
    /// Evaluates the function for constants. Errors: those of the function for these values.
    pub fn evaluate(&self, arguments: &[ScalarValue]) -> Result<ScalarValue> {
        let arrays = arguments.iter().map(|value| Ok(value.to_array()?)).collect::<Result<Vec<_>>>()?;
        let array = self.compute(&arrays, 1).map_err(SqlError::of_values)?;
        Ok(ScalarValue::try_from_array(&array, 0)?)
    }
    fn compute(&self, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        value_size::call(arguments, || (self.kernel)(&self.make_call(arguments, rows)))
    }
    fn make_call<'a>(&'a self, arguments: &'a [ArrayRef], rows: usize) -> Call<'a> {
        let KernelFunction { types, result, slots, ctype, .. } = self;
        Call { rows, arguments, types, result: *result, slots: slots.as_ref(), ctype: *ctype }
    }
}

impl fmt::Debug for KernelFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?}) -> {:?}", self.name, self.types, self.result)
    }
}

impl PartialEq for KernelFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.types == other.types
            && self.result == other.result
            && self.ctype == other.ctype
            && match (&self.slots, &other.slots) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (None, None) => true,
                _ => false,
            }
    }
}

impl Eq for KernelFunction {}

impl Hash for KernelFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.types.hash(state);
        self.result.hash(state);
        self.ctype.hash(state);
    }
}

impl ScalarUDFImpl for KernelFunction {
    fn name(&self) -> &str {
        &self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> DataFusionResult<DataType> {
        Ok(self.result.arrow())
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DataFusionResult<ColumnarValue> {
        let constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let arrays = args
            .args
            .iter()
            .map(|value| match value {
                ColumnarValue::Array(array) => Ok(Arc::clone(array)),
                ColumnarValue::Scalar(value) => value.to_array(),
            })
            .collect::<DataFusionResult<Vec<_>>>()?;
        if constant && self.stability != Stability::Volatile {
            let array = self.compute(&arrays, 1)?;
            if value_size::is_large(array.as_ref()) && args.number_rows == 1 {
                // A scalar would copy the value. A large value's memory is accounted for in its array.
                return Ok(ColumnarValue::Array(array));
            }
            let value = ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?);
            return Ok(match value_size::is_long(array.as_ref()) {
                // An operator would expand it to an array without reserving memory.
                true => ColumnarValue::Array(value_size::repeated(value, args.number_rows)?),
                false => value,
            });
        }
        Ok(ColumnarValue::Array(self.compute(&arrays, args.number_rows)?))
    }
}
