//! Bound statements, executed over tables in memory. The expected results are PostgreSQL 15's.

mod errors;
mod queries;
mod writes;

use crate::bind::{BindContext, Bound, BoundKind, bind};
use crate::catalog::{Catalog, TableBuilder, TableDescriptor};
use crate::error::SqlError;
use crate::execution::KEY_COLUMN;
use crate::execution::Slots;
use crate::parse::parse;
use crate::plan_tests::testing::World;
use crate::settings::Settings;
use crate::types::text::output_string;
use crate::types::{Datum, SqlType, make_numeric_modifier};
use datafusion::arrow::array::{Array, ArrayRef, BinaryArray, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::TableSource;
use datafusion::physical_plan::collect;
use std::collections::HashMap;
use std::sync::Arc;

/// Tables `t`, `u`, `n`, `f` in memory, and an engine to query them.
pub struct Bench {
    pub catalog: Arc<Catalog>,
    pub settings: Settings,
    data: HashMap<String, RecordBatch>,
    world: World,
}

/// Rows of the tables.
const ROWS: [(&str, &str); 4] = [
    ("t", "select * from (values (1, 10, 'one'), (2, 20, 'two'), (3, null, 'three'), (4, 20, null)) as v(id, a, b)"),
    (
        "u",
        "select id, t_id, name, amount::numeric(10,2) from (values (1, 1, 'x', 1.50), (2, 1, 'y', 2.25),
         (3, 2, 'x', 10), (4, null, 'z', null)) as v(id, t_id, name, amount)",
    ),
    ("n", "select x::numeric, c::char(4) from (values (1.0, 'a'), (1.00, 'b '), (2, 'a  '), (null, null)) as v(x, c)"),
    ("f", "select * from (values (1, true), (2, false), (3, null)) as v(id, ok)"),
];

fn tables() -> Vec<TableDescriptor> {
    let money = SqlType::NUMERIC.with_modifier(make_numeric_modifier(10, 2));
    vec![
        TableBuilder::new(1000, "t")
            .column("id", SqlType::INT4)
            .column("a", SqlType::INT4)
            .default_value("7")
            .column("b", SqlType::TEXT)
            .primary_key(&["id"])
            .index("t_b_key", &["b"], &[], true)
            .check("t_a_check", "(a > 0)")
            .build(),
        TableBuilder::new(2000, "u")
            .column("id", SqlType::INT4)
            .column("t_id", SqlType::INT4)
            .column("name", SqlType::VARCHAR.with_modifier(12))
            .column("amount", money)
            .primary_key(&["id"])
            .build(),
        TableBuilder::new(3000, "n").column("x", SqlType::NUMERIC).column("c", SqlType::CHAR.with_modifier(8)).build(),
        TableBuilder::new(4000, "f")
            .column("id", SqlType::INT4)
            .column("ok", SqlType::BOOL)
            .primary_key(&["id"])
            .build(),
    ]
}

impl Bench {
    /// Makes the tables with their rows.
    pub async fn new() -> Bench {
        let mut builder = Catalog::builder(crate::pg_catalog::SystemViews::get());
        for table in tables() {
            builder = builder.table(table);
        }
        let mut bench = Bench {
            catalog: Arc::new(builder.build()),
            settings: Settings::new("postgres"),
            data: HashMap::new(),
            world: World::new(0).await,
        };
        for (name, sql) in ROWS {
            let table = bench.catalog.relation(None, name, &["public".into()]).unwrap();
            let (_, rows) = bench.batch(sql).await.unwrap();
            let fields: Vec<Field> =
                table.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), true)).collect();
            let mut columns = rows.columns().to_vec();
            let keys: Vec<String> = (0..rows.num_rows()).map(|row| format!("{name}{row}")).collect();
            let keys: ArrayRef = Arc::new(BinaryArray::from_iter_values(keys));
            columns.push(keys);
            let batch = RecordBatch::try_new(schema(fields), columns).unwrap();
            bench.data.insert(name.into(), batch);
        }
        bench
    }

    /// Binds one statement to `slots`.
    pub fn bind(&self, sql: &str, slots: &Arc<Slots>) -> Result<Bound, SqlError> {
        let statements = parse(sql)?;
        let source = |table: Arc<TableDescriptor>| self.source(&table);
        let context = BindContext {
            catalog: &self.catalog,
            settings: &self.settings,
            slots,
            parameters: &[],
            now: 0,
            identified: None,
            table_source: &source,
        };
        bind(&statements[0], &context)
    }

    fn source(&self, table: &TableDescriptor) -> Arc<dyn TableSource> {
        let batch = match self.data.get(&table.name) {
            Some(batch) => batch.clone(),
            None => {
                let fields = table.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), true));
                RecordBatch::new_empty(schema(fields.collect()))
            }
        };
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
        provider_as_source(Arc::new(table))
    }

    /// Runs one query. Returns its columns and a single batch of rows.
    pub async fn batch(&self, sql: &str) -> Result<(Vec<(String, SqlType)>, RecordBatch), SqlError> {
        self.batch_with(sql, vec![]).await
    }

    /// Like [`Bench::batch`], with parameters.
    pub async fn batch_with(
        &self,
        sql: &str,
        parameters: Vec<Datum>,
    ) -> Result<(Vec<(String, SqlType)>, RecordBatch), SqlError> {
        let slots = Slots::new();
        let bound = self.bind(sql, &slots)?;
        let BoundKind::Query { plan, columns, .. } = bound.kind else { panic!("not a query: {sql}") };
        let physical = self.world.engine.plan(&plan, &slots).await?;
        let transaction = self.world.begin();
        slots.fill(self.world.context(&transaction, parameters));
        let schema = physical.schema();
        let batches = collect(physical, self.world.engine.task_context().clone()).await?;
        let batch = concat_batches(&schema, &batches)?;
        assert_eq!(batch.num_columns(), columns.len(), "{sql}");
        for (column, array) in columns.iter().zip(batch.columns()) {
            let have = array.data_type();
            let fits = *have == column.ty.arrow()
                || matches!((have, column.ty.arrow()), (DataType::List(_), DataType::List(_)));
            assert!(fits, "{sql}: column {} is {have}, not {}", column.name, column.ty.arrow());
        }
        Ok((columns.into_iter().map(|column| (column.name, column.ty)).collect(), batch))
    }

    /// Rows as text: fields separated by bars, rows by semicolons, NULL as `~`. For an error, its state and message.
    pub async fn rows(&self, sql: &str) -> String {
        match self.batch(sql).await {
            Ok((columns, batch)) => self.text(&columns, &batch),
            Err(error) => format!("{} {}", error.state(), error.fields().message),
        }
    }

    pub fn text(&self, columns: &[(String, SqlType)], batch: &RecordBatch) -> String {
        let context = self.settings.text_output(Some(self.catalog.as_ref()));
        let row = |row: usize| -> String {
            let fields = columns.iter().zip(batch.columns()).map(|((_, ty), array)| {
                if array.is_null(row) { "~".into() } else { output_string(*ty, array, row, &context).unwrap() }
            });
            fields.collect::<Vec<_>>().join("|")
        };
        (0..batch.num_rows()).map(row).collect::<Vec<_>>().join("; ")
    }

    /// Names and types of a query's columns.
    pub fn columns(&self, sql: &str) -> String {
        match self.bind(sql, &Slots::new()).map(|bound| bound.kind) {
            Ok(BoundKind::Query { columns, .. }) => columns
                .into_iter()
                .map(|column| format!("{} {}", column.name, column.ty.format()))
                .collect::<Vec<_>>()
                .join(", "),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("{} {}", error.state(), error.fields().message),
        }
    }
}

fn schema(mut fields: Vec<Field>) -> Arc<Schema> {
    fields.push(Field::new(KEY_COLUMN, DataType::Binary, false));
    Arc::new(Schema::new(fields))
}

/// Runs all queries and reports each one with an unexpected result.
pub async fn check(cases: &[(&str, &str)]) {
    let bench = Bench::new().await;
    let mut wrong = Vec::new();
    for (sql, expected) in cases {
        let answer = bench.rows(sql).await;
        if answer != *expected {
            wrong.push(format!("{sql}\n  expected: {expected}\n  answered: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
