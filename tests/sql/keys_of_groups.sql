-- What is grouped by and asked for: whole rows by their keys, and expressions with subqueries.
create table s (id int primary key, n text); create table c (id int primary key, sid int references s);
insert into s values (1, 'a'), (2, 'b'); insert into c values (1, 1), (2, 1), (3, 2);
select s from s group by s.id order by s.id;
select row_to_json(s), count(c.id) from s join c on c.sid = s.id group by s.id order by s.id;
select s, count(*) from s join c on c.sid = s.id group by s.id having s is not null order by s.id;
select to_jsonb(s.*) || jsonb_build_object('c', jsonb_agg(c order by c.id)) from s join c on c.sid = s.id group by s.id order by s.id;
select s, count(c) from c left join s on s.id = c.sid + 1 group by s.id order by s.id;
select s from s group by s.n;
select c from s join c on c.sid = s.id group by s.id;
select case when exists (select 1 from c where c.sid = s.id and c.id > 2) then n else 'none' end, count(*) from s group by case when exists (select 1 from c where c.sid = s.id and c.id > 2) then n else 'none' end order by 1;
select s.id in (select sid from c where c.id > 2), count(*) from s group by s.id in (select sid from c where c.id > 2) order by 1;
select s.id = any (select sid from c), s.id > all (select sid from c where c.id < s.id), count(*) from s group by 1, s.id > all (select sid from c where c.id < s.id) order by 1, 2;
select s.id, case when exists (select 1 from c) then s.id else s.id end as e, count(*) from s group by rollup (s.id, case when exists (select 1 from c) then s.id else s.id end) order by 1, 2;
select exists (select 1 from c where c.sid = s.id) from s where exists (select 1 from c where c.sid = s.id) group by exists (select 1 from c where c.sid = s.id) having exists (select 1 from c);

-- Functions of several rows over windows.
select generate_series(1, row_number() over (order by id)) from s order by 1;
select id, unnest(array[sum(id) over (), count(*) over (order by id)]) from s order by 1, 2;
select id, generate_series(id, max(id) over ()), rank() over (order by id desc) from s order by 1, 2;
select generate_series(1, count(*) over ()) from c group by sid order by 1;

-- LATERAL: functions joined by USING, VALUES with subqueries.
create table t (id int primary key, a int[]);
insert into t values (1, '{1,2}'), (2, '{3}'), (3, null);
select t.id, e from t join unnest(t.a) with ordinality as x(e, id) using (id) order by 1, 2;
select t.id, e from t left join unnest(t.a) with ordinality as x(e, id) using (id) order by 1, 2;
select * from t natural join unnest(t.a) with ordinality as x(e, id) order by 1, 2;
select * from t join generate_series(1, t.id) as id using (id) order by 1;
select t.id, x from t, lateral (values (t.id), ((select max(id) from t o where o.id > t.id))) v(x) order by 1, 2;
select t.id, k, x from t cross join lateral (values ('least', (select min(id) from t o where o.id <> t.id)), ('count', cardinality(t.a))) v(k, x) order by 1, 2;
select id, (select max(x) from (values (t.id), ((select count(*) from t o where o.id < t.id))) v(x)) from t order by id;
select id from t where id in (values (1), ((select max(id) from t o where o.id <> t.id))) order by 1;
