//! Random writes from a seed to the tables of `rules`: INSERT … ON CONFLICT, UPDATE … FROM, DELETE … USING, with
//! RETURNING. Failing writes are reduced to smaller ones that still differ. PostgreSQL's answer is the expected one.

use super::Node;
use super::rules::Ty;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// The written columns with their types.
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

/// The statement that writes the selected rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Inserts rows with new keys.
    Insert,
    /// Inserts existing keys with DO NOTHING.
    Nothing,
    /// Inserts existing keys with DO UPDATE.
    Upsert,
    Update,
    /// Updates with the other table in FROM.
    UpdateFrom,
    Delete,
    DeleteUsing,
    Merge,
}

/// A random write to a test table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    kind: Kind,
    /// The assigned columns with their values.
    values: Vec<(&'static str, Node)>,
    condition: Option<Node>,
    /// An extra expression in RETURNING.
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

    /// SQL text: the write with its result in order, a query of the table afterwards, and a rollback.
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
        // The order in which a statement writes its rows is undefined.
        let columns = "id, i2, i4, i8, n, m, f, s, v, b, d, ts, iv, a, j";
        let more = if returned.is_empty() { "" } else { ", more" };
        self.whole(&format!(
            "with w as ({write} returning {columns}{returned}) select {columns}{more} from w order by id"
        ))
    }

    fn whole(&self, write: &str) -> String {
        format!("begin; {write}; select * from big order by id; rollback")
    }

    /// Writes that are one step smaller.
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
