-- Values of every type, in and out.
create table v (
  id int primary key, b bool, i2 int2, i8 int8, f4 float4, f8 float8, n numeric(20,6), t text, vc varchar(10), c char(4),
  y bytea, d date, ts timestamp, tz timestamptz, u uuid);
insert into v values
  (1, true, 32767, 9223372036854775807, 1.5, 0.1, 123456.789, 'text', 'vc', 'ch', '\xdeadbeef', '2024-02-29', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
  (2, false, -32768, -9223372036854775808, -1e30, 1e-300, -0.000001, '', '', '', '', '0001-01-01', '1999-12-31 23:59:59.999999', '1970-01-01 00:00:00Z', '{00000000-0000-0000-0000-000000000000}'),
  (3, null, null, null, 'NaN', 'Infinity', null, E'tab\there', null, null, null, 'infinity', '-infinity', 'infinity', null);
select * from v order by id;
select id, n * 2, n / 3, round(n, 2), -n, abs(n) from v order by id;
select f4, f8, f4 + 1, f8 * 2 from v order by id;
select i2 + 1::int2, i8 - 1 from v where id = 1;
select i2 + i2 from v where id = 1;
select i2 * 1000 from v where id = 1;
select i8 + 1 from v where id = 1;
select 1.0 / 3, 10 / 4, 10 / 4.0, 7 % 3, -7 / 2, -7 % 2, 2.5::int, 3.5::int, (-2.5)::int, 2.5::float8::int;
select 0.1 + 0.2, 1.10 + 2.2, 1.5 * 1.50, 1e10, 100000000000000000000 + 1;
select sum(i2), avg(i2), sum(i8), avg(n), count(f8) from v;
select '1' = 1, 'a' < 'b', null = null, 1 = 1.0, 1.0 = 1.00, 'x' || 1 || true;
select true and null, true or null, not null;
select 'abc' like 'a%', 'abc' not like '_b_', 'ABC' ilike 'abc', 'a.c' ~ 'a\.c', 'abc' !~ 'b';
select '2024-01-31'::date + 1, '2024-03-01'::date - '2024-02-01'::date, date '2024-01-01' > '2023-12-31';
select c || '|', length(c), c = 'ch', 'ch'::char(4) = 'ch  ' from v order by id;
select 'toolong'::varchar(3), 'toolong'::char(3), 5::text, '5'::int + 1, 't'::bool, 1::bool, 'no'::bool;
select cast('12' as int8), cast(1.999 as numeric(3,1)), 1234.5::numeric(5,2);
select 99999::int2;
select 'x'::bool;
select '2024-13-01'::date;
select 'xyz'::uuid;
select 1e400::float8;
select length('héllo'), octet_length('héllo'), upper('straße'), substring('hello' from 2 for 3), position('l' in 'hello'), trim('  x '), replace('aXbX', 'X', '-');
select greatest(1, 3, 2), least(1.5, 2), coalesce(null, 'x'), nullif(1, 1);
select date_trunc('month', timestamp '2024-05-17 10:20:30'), extract(year from date '2024-05-17'), extract(epoch from timestamp '1970-01-02');
select floor(-1.5), ceil(1.2), round(2.567, 1), trunc(-1.9), abs(-5), mod(7, 3), sqrt(4.0), power(2, 10);
select lpad('x', 3, '-'), rpad('x', 3), left('hello', 2), right('hello', 2), repeat('ab', 2), reverse('abc'), split_part('a,b,c', ',', 2), md5('x');
select pg_typeof(1), pg_typeof(1.5), pg_typeof('x'), pg_typeof(1::int8 + 1), pg_typeof(sum(1)), pg_typeof(avg(1));
-- "char" is a byte.
select '\123'::"char", '\377'::"char", 'é'::"char", ''::"char", 'ab'::"char", '\000'::"char" = '', '\400'::"char", '\9'::"char", '\1234'::"char";
select '\377'::"char"::int, (-100)::"char", 65::"char", 'é'::text::"char", length('é'::"char"::text), ascii('\377'::"char"), '\377'::"char" > 'a'::"char";
select 200::"char";
