//! Random writes to the tables of [`rules`], from a seed: INSERT … ON CONFLICT, UPDATE … FROM, DELETE … USING, with RETURNING;
//! and smaller ones that still differ. PostgreSQL says what is right.

use super::Node;
use super::rules::Ty;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// Columns that are written, with their types.
const COLUMNS: &[(&str, Ty)] = &[
    ("i2", Ty::Int2),
    ("i4", Ty::Int4),
    ("i8", Ty::Int8),
    ("n", Ty::Numeric),
    ("m", Ty::Numeric),
    ("f", Ty::Float8),
    ("s", Ty::Text),
    ("v", Ty::Text),
    ("b", Ty::Bool),
    ("d", Ty::Date),
    ("ts", Ty::Timestamp),
    ("iv", Ty::Interval),
    ("a", Ty::Ints),
    ("j", Ty::Jsonb),
];

/// What a write does with the rows that a condition chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Other rows, beyond those that are there.
    Insert,
    /// Rows that are there, left alone.
    Nothing,
    /// Rows that are there, changed.
    Upsert,
    Update,
    /// With the other table.
    UpdateFrom,
    Delete,
    DeleteUsing,
    Merge,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    kind: Kind,
    /// Columns with what is written to them.
    values: Vec<(&'static str, Node)>,
    condition: Option<Node>,
    /// An expression beside the row in RETURNING.
    returned: Option<Node>,
}

impl Write {
    /// The write of a seed.
    pub fn random(seed: u64) -> Write {
        let mut random = StdRng::seed_from_u64(seed);
        let random = &mut random;
        let kinds = [
            Kind::Insert,
            Kind::Nothing,
            Kind::Upsert,
            Kind::Update,
            Kind::UpdateFrom,
            Kind::Delete,
            Kind::DeleteUsing,
            Kind::Merge,
        ];
        let kind = *kinds.choose(random).expect("a kind");
        let mut values: Vec<(&'static str, Node)> = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let (column, ty) = *COLUMNS.choose(random).expect("a column");
            if !values.iter().any(|(known, _)| *known == column) {
                values.push((column, Node::random(random, ty, 2)));
            }
        }
        let condition = random.random_bool(0.7).then(|| Node::random(random, Ty::Bool, 2));
        let returned = random.random_bool(0.5).then(|| {
            let ty = *Ty::ALL.choose(random).expect("a type");
            Node::random(random, ty, 2)
        });
        Write { kind, values, condition, returned }
    }

    /// Its SQL: what it returns in order, then the table as it leaves it, which is taken back.
    pub fn sql(&self) -> String {
        let columns = self.values.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        let values = self.values.iter().map(|(_, node)| node.sql()).collect::<Vec<_>>().join(", ");
        let set = self.values.iter().map(|(column, node)| format!("{column} = {}", node.sql()));
        let set = set.collect::<Vec<_>>().join(", ");
        let when = |word: &str| self.condition.as_ref().map_or(String::new(), |node| format!(" {word} {}", node.sql()));
        let excluded = self.values.iter().map(|(column, _)| format!("{column} = excluded.{column}"));
        let excluded = excluded.collect::<Vec<_>>().join(", ");
        let write = match self.kind {
            Kind::Insert => {
                format!("insert into big (id, {columns}) select id + 100, {values} from big{}", when("where"))
            }
            Kind::Nothing => format!(
                "insert into big (id, {columns}) select id * 2, {values} from big{} on conflict do nothing",
                when("where")
            ),
            Kind::Upsert => format!(
                "insert into big (id, {columns}) select id * 2, {values} from big{} on conflict (id) do update set {excluded}",
                when("where")
            ),
            Kind::Update => format!("update big set {set}{}", when("where")),
            Kind::UpdateFrom => format!("update big set {set} from small where small.k = id{}", when("and")),
            Kind::Delete => format!("delete from big{}", when("where")),
            Kind::DeleteUsing => format!("delete from big using small where small.k = id{}", when("and")),
            Kind::Merge => {
                return self.whole(&format!(
                    "merge into big using small on small.k = id when matched{} then update set {set} \
                     when matched then delete when not matched and k is not null then insert (id) values (k + 50)",
                    when("and")
                ));
            }
        };
        let returned = self.returned.as_ref().map_or(String::new(), |node| format!(", {} as more", node.sql()));
        // Which of several rows was written first is not said.
        let columns = "id, i2, i4, i8, n, m, f, s, v, b, d, ts, iv, a, j";
        let more = if returned.is_empty() { "" } else { ", more" };
        self.whole(&format!(
            "with w as ({write} returning {columns}{returned}) select {columns}{more} from w order by id"
        ))
    }

    fn whole(&self, write: &str) -> String {
        format!("begin; {write}; select * from big order by id; rollback")
    }

    /// Writes a step smaller.
    pub fn smaller(&self) -> Vec<Write> {
        let mut found = Vec::new();
        if self.condition.is_some() {
            found.push(Write { condition: None, ..self.clone() });
        }
        if self.returned.is_some() {
            found.push(Write { returned: None, ..self.clone() });
        }
        if self.values.len() > 1 {
            found.extend(self.values.iter().map(|value| Write { values: vec![value.clone()], ..self.clone() }));
        }
        let conditions = self.condition.iter().flat_map(Node::smaller);
        found.extend(conditions.map(|less| Write { condition: Some(less), ..self.clone() }));
        let returned = self.returned.iter().flat_map(Node::smaller);
        found.extend(returned.map(|less| Write { returned: Some(less), ..self.clone() }));
        for (place, (column, node)) in self.values.iter().enumerate() {
            for less in node.smaller() {
                let mut values = self.values.clone();
                values[place] = (*column, less);
                found.push(Write { values, ..self.clone() });
            }
        }
        found
    }
}
