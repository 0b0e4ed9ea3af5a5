-- Statements that ask for too much: each line is one. `{text}` is a text of ten million characters, `{bytes}` the same as bytea,
-- `{numbers}` an array of two million integers, `{json}` a JSON text of ten megabytes. All are an eighth of that where each runs once.
select length(repeat('x', 1 << 30))
select length(repeat('x', 1073741819))
select length(repeat('x', 1000000000))
select length(repeat('x', 200000000))
select sum(length(repeat(chr(65 + g), 100000000))) from generate_series(1, 2) g
select repeat('x', 1000000) from generate_series(1, 100000)
select length(repeat('x', 1000000 - g % 2)) from generate_series(1, 4096) g
select length(repeat(repeat('x', 100000000), 10))
select length(lpad('x', 1 << 28, 'ab'))
select length(lpad('x', 1 << 27, 'ab'))
select length(rpad('x', 1 << 27, 'ab'))
select length(replace(repeat('x', 10000000), 'x', repeat('y', 1000)))
select length(replace({text}, 'abc', 'xyzxyz'))
select length(replace({text}, 'j', ''))
select length(overlay(repeat('x', 900000000) placing repeat('y', 900000000) from 10 for 1))
select length(overlay({text} placing 'zz' from 5000000 for 2))
select length(format('%s%s%s', repeat('x', 900000000), repeat('y', 900000000), 'z'))
select length(format('%1000000000s', 'x'))
select length(format('%2000000000s', 'x'))
select length(concat(repeat('x', 900000000), repeat('y', 900000000)))
select length(concat_ws(repeat('-', 500000000), 'a', 'b', 'c', 'd'))
select length(repeat('x', 900000000) || repeat('y', 900000000))
select length({text} || {text} || {text} || {text})
select length(string_agg({text}, ',')) from generate_series(1, 1000)
select length(string_agg(g::text, repeat(',', 1000))) from generate_series(1, 10000000) g
select length(array_to_string(array_fill(repeat('x', 1000000), array[2000]), ','))
select length(array_to_string({numbers}, ', '))
select array_length(array_fill(1, array[134217727]), 1)
select array_length(array_fill(1, array[10000, 20000]), 1)
select array_length(array_fill('x'::text, array[100000000]), 1)
select array_length({numbers} || {numbers}, 1)
select array_length(array_remove({numbers}, 17), 1)
select array_length(array_replace({numbers}, 17, 18), 1)
select array_position({numbers}, -1)
select array_positions({numbers}, -1)
select {numbers} @> array[-1]
select {numbers} && array[-1, -2, -3]
select {numbers} = {numbers}
select -1 = any({numbers})
select cardinality(array_append({numbers}, 1))
select count(*) from unnest({numbers}) with ordinality
select array_length(string_to_array({text}, 'e'), 1)
select array_length(string_to_array({text}, null), 1)
select array_length(string_to_array(repeat('a,', 50000000), ','), 1)
select count(*) from string_to_table({text}, 'e')
select count(*) from regexp_split_to_table({text}, 'e')
select array_length(regexp_split_to_array({text}, '[aeiou]'), 1)
select md5({text})
select md5(repeat('x', 200000000))
select length(sha224({bytes}))
select length(sha256({bytes}))
select length(sha384({bytes}))
select length(sha512(convert_to(repeat('x', 200000000), 'utf8')))
select length(encode({bytes}, 'base64'))
select length(encode({bytes}, 'hex'))
select length(encode({bytes}, 'escape'))
select length(decode(encode({bytes}, 'base64'), 'base64'))
select length(decode(repeat('ab', 100000000), 'hex'))
select length(decode(repeat('\\', 100000000), 'escape'))
select length(encode(convert_to(repeat('x', 900000000), 'utf8'), 'hex'))
select length(({text})::bytea)
select length(({bytes})::text)
select length(substring({bytes} from 2000000))
select position('\x0001'::bytea in {bytes})
select length({bytes} || {bytes})
select length(reverse({text}))
select length(reverse(repeat('ä', 100000000)))
select length(upper({text}))
select length(lower(repeat('Ä', 50000000)))
select length(initcap({text}))
select length(translate({text}, 'abcdefg', 'xyz'))
select length(translate({text}, (select string_agg(chr(g), '') from generate_series(256, 2000) g), ''))
select length(btrim({text}, 'abcdefghij'))
select length(ltrim({text}, (select string_agg(chr(g), '') from generate_series(97, 2000) g)))
select length(normalize({text}))
select length(normalize(repeat('a' || chr(776), 5000000), NFD))
select length(normalize(repeat(chr(64016), 5000000), NFKC))
select {text} is normalized
select length(unistr({text}))
select length(quote_literal(repeat('''', 100000000)))
select length(quote_ident({text}))
select strpos({text}, 'jihgf')
select strpos({text}, repeat('abcdefghij', 400000) || 'x')
select length(split_part({text}, 'e', 900000))
select length(split_part({text}, 'e', -900000))
select length(left({text}, -5000000))
select length(right({text}, 5000000))
select length(substring({text} from 3000000 for 5000000))
select ascii({text})
select bit_length({text})
select hashtext({text})
select length(to_json({text})::text)
select length((to_jsonb({text}))::text)
select length(({json})::json::text)
select length(({json})::jsonb::text)
select jsonb_array_length(({json})::jsonb)
select count(*) from jsonb_array_elements(({json})::jsonb)
select ({json})::jsonb @> '[1, 2, 3]'
select length(jsonb_pretty(({json})::jsonb))
select ({json})::jsonb -> 100000
select (({json})::jsonb || ({json})::jsonb) -> 0
select jsonb_path_query_first(({json})::jsonb, '$[*] ? (@ == -1)')
select length(json_build_array({text}, {text})::text)
select length(row_to_json(r)::text) from (select {text} a, {text} b) r
select length(json_agg({text})::text) from generate_series(1, 1000)
select {text} like '%a%b%c%d%e%f%g%h%i%j%k%'
select {text} like repeat('%a', 1000)
select {text} like repeat('%a', 1000) || g from generate_series(1, 3) g
select {text} ilike '%J%I%H%G%z%'
select {text} similar to '%(x|y|z)%'
select {text} ~ '(a|b)*z'
select {text} ~ '(.)(.)\1\2'
select repeat('ab', 5000) ~ '^(.*)(.*)(.*)\1\2\3x$'
select repeat('a', 30000) ~ '(a*)*\1b'
select 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' ~ '^(a+)+\1+$x'
select length(regexp_replace({text}, '[a-e]', 'xx', 'g'))
select length(regexp_replace(repeat('x', 10000000), 'x', repeat('y', 1000), 'g'))
select length(regexp_replace({text}, '(.)(.)', '\2\1', 'g'))
select regexp_count({text}, 'a.*j')
select regexp_instr({text}, 'e', 1, 900000)
select count(*) from regexp_matches({text}, '[aeiou]', 'g')
select regexp_match({text}, '(.*)x')
select count(*) from generate_series(1::numeric, 1000000000::numeric)
select count(*) from generate_series(1::numeric, 100000::numeric, 0.00001)
select count(*) from generate_series(timestamp '2000-01-01', timestamp '2900-01-01', interval '1 second')
select count(*), generate_series(1::numeric, 100000000::numeric) g group by 2
select factorial(30000)
select length((2::numeric ^ 400000)::text)
select 3.0000000001::numeric ^ 100000.0001
select exp(5000.5::numeric)
select ln((10::numeric ^ 100000) + 1)
select sqrt(2::numeric * 10::numeric ^ 100000)
select gcd(3::numeric ^ 100000, 7::numeric ^ 57000)
select (('1' || repeat('0', 130000))::numeric) * (('3' || repeat('7', 130000))::numeric)
select (repeat('9', 10000000))::numeric
select (repeat('9', 10000000))::int
select ('{' || repeat('1,', 5000000) || '1}')::int[]
select ('{' || repeat('"a",', 2000000) || '"a"}')::text[]
select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b
select count(distinct a) from generate_series(1, 100000000) a
select count(*) from (select g, repeat(md5(g::text), 30) t from generate_series(1, 10000000) g order by t) s
select array_agg(g) from generate_series(1, 100000000) g
select g, count(*) from generate_series(1, 100000000) g group by g
select sum(g) over (order by g) from generate_series(1, 100000000) g
with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r
with recursive r(t) as (select 'x' union all select t || t from r) select max(length(t)) from r
select max(length(t)) from (select repeat('x', 50000000) || g t from generate_series(1, 100) g) s
select max(repeat('x', 10000000)) is null from generate_series(1, 100000)
select count(*) from (select 1 from generate_series(1, 100000) g group by repeat('x', 10000000)) s
select count(distinct repeat('x', 10000000)) from generate_series(1, 100000)
select 1 from generate_series(1, 100000) g order by repeat('x', 10000000) || g limit 1
select length(repeat('x', 10000000)) from generate_series(1, 10000)
select array_agg(repeat('x', 10000000)) from generate_series(1, 10000)
select count(*) from generate_series(1, 10000) g where repeat('x', 10000000) || g = 'x'
select lag(repeat('x', 10000000)) over (order by g) from generate_series(1, 10000) g
select count(*) from generate_series(1, 10000) a join generate_series(1, 10000) b on repeat('x', 10000000) || a = repeat('x', 10000000) || b
select pg_sleep(100)
