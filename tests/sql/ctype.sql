-- Databases whose LC_CTYPE is C: characters beyond ASCII have no case and are in no class.
create database letters_no lc_ctype 'C';
create database letters_c template template0 lc_ctype 'C';
create database letters_posix template template0 locale 'POSIX';
create database letters_copy template letters_c;
create database letters_same template letters_c lc_ctype 'POSIX';
create database letters_utf template template0 lc_collate 'C' lc_ctype 'C.utf8';
create database letters_no template letters_c lc_ctype 'C.UTF-8';
create database letters_no template letters_posix locale 'C.UTF-8';
select datname, datcollate, datctype, encoding from pg_database where datname like 'letters%' order by datname;
-- The same statements in a database of each kind: no plan of one serves the other.
show lc_ctype;
select upper('straße é ǆ'), lower('ÉAÀ'), initcap('éa à-bÉC école ab_cd 1a');
select 'É' ilike 'é', 'ÉA' not ilike 'Éa', 'É' ~* 'é', 'Éa' ~* 'ÉA', 'É' !~* 'é';
\c letters_c
show lc_ctype;
select upper('straße é ǆ'), lower('ÉAÀ'), initcap('éa à-bÉC école ab_cd 1a');
select 'É' ilike 'é', 'ÉA' not ilike 'Éa', 'É' ~* 'é', 'Éa' ~* 'ÉA', 'É' !~* 'é';
show lc_collate;
select current_setting('lc_ctype'), current_database();
set lc_ctype = 'C.UTF-8';
-- Classes, and what is between words.
select 'é' ~ '\w', 'é' ~ '\W', 'é' ~ '[[:alpha:]]', 'é' ~ '[^[:alpha:]]', 'é' ~ '[[:alnum:]_]', 'é' ~ '[[:word:]]';
select 'é' ~ '[[:lower:]]', 'É' ~ '[[:upper:]]', 'é' ~* '[[:upper:]]', '٣' ~ '\d', '٣' ~ '\w', '€' ~ '[[:punct:]]';
select E'\u00a0' ~ '\s', E'\u2003' ~ '\s', E'\u2003' ~ '[[:space:]]', E'\u2003' ~ '\S', E'\t' ~ '\s', E'\u0085' ~ '[[:cntrl:]]';
select 'é' ~ '[[:print:]]', 'é' ~ '[[:graph:]]', 'e' ~ '[[:print:]]', 'e' ~ '[[:graph:]]', '!' ~ '[[:punct:]]', 'Z' ~ '[[:upper:]]';
select 'aéb' ~ 'a\y', 'aéb' ~ 'a\M', 'aéb' ~ '\mb', 'aéb' ~ 'a\Y', 'éb' ~ '[[:<:]]b', regexp_replace('aéb cèd', '\m\w', '<\&>', 'g');
select 'É' ~ '(?i)é', 'É' ~* '[à-ï]', 'Z' ~* '[a-z]', 'é' ~* '[^É]', 'É' ~* '***=é', 'a' ~* '***=A', '_' ~* '[A-z]', 'ſ' ~* 's', 'K' ~* 'k';
select 'éÉ' ~* '(é)\1', 'éé' ~* '(é)\1', 'aA' ~* '(a)\1', 'Éa' ~* '(?<=é)a', 'Ba' ~* '(?<=b)a', 'aB' ~* 'a(?=b)';
select E'a\u2003b' ~ E'(?x)a\u2003b', 'ab' ~ E'(?x)a\u2003b', 'ab' ~ '(?x)a b', 'é' ~ '\é', 'é' ~ '[\é]';
select 'é' ~ '(?é)';
select regexp_replace('aéb cèd', '\w+', '<\&>', 'g'), regexp_replace('xÉÉ', 'é', '-', 1, 0, 'i'), regexp_split_to_array('aébàc', '\W');
select regexp_match('xÉy', 'é', 'i'), regexp_count('éÉé', 'é', 1, 'i'), regexp_like('É', 'é', 'i'), regexp_instr('aÉ', 'é', 1, 1, 0, 'i'), regexp_substr('aÉ', 'é', 1, 1, 'i');
select regexp_matches('Ééaé', 'é|A', 'gi');
select * from regexp_split_to_table('aébàc', '\W');
select 'É' similar to '[[:alpha:]]', 'e' similar to '[[:alpha:]]', 'é' similar to '\w', substring('aéb' from '\w+'), substring('aéb' similar '#"\w+#"%' escape '#');
select jsonb_path_exists('"É"', '$ ? (@ like_regex "é" flag "i")'), jsonb_path_exists('"é"', '$ ? (@ like_regex "\\w")'), '["Éa"]' @? '$[*] ? (@ like_regex "éA" flag "i")', '["Éa"]' @? '$[*] ? (@ like_regex "ÉA" flag "i")';
-- Matching with patterns of every origin.
select 'É' ilike '_', 'aÉ' ilike 'A_', '%' ilike '\%', 'É' not ilike 'é', 'É' ilike null, null not ilike 'é';
select texticlike('É', 'é'), texticnlike('É', 'é'), texticregexeq('É', 'é'), texticregexne('É', 'é'), texticlike('Éa', 'ÉA');
select 'É' ilike any (array['é']), 'É' ~* any (array['é']), 'É' not ilike all (array['é']), 'Ab' ilike any (array['aB', 'x']), 'Ab' not ilike all (array['aB', null]);
select w, p, w ilike p, w not ilike p, w ~* p, w ilike p || '%' from (values ('É', 'é'), ('Éa', 'ÉA'), ('A', 'a')) as v (w, p);
select 'Éa  '::char(4) ilike 'ÉA%', 'É'::varchar ~* 'é', 'Éa'::name ilike 'Éa', upper('éa'::varchar), lower('ÉA'::name);
prepare likes (text, text) as select $1 ilike $2, $1 ~* $2, upper($1);
execute likes ('éa', 'éA');
execute likes ('éa', 'ÉA');
deallocate likes;
-- What knows no letters is as ever.
select 'é' like '_', char_length('é'), translate('é', 'é', 'x'), strpos('aé', 'é'), position('é' in 'aé'), reverse('éa'), left('éa', 1), ascii('é'), lpad('é', 3, 'è');
select quote_ident('É'), format('%I %L', 'éA', 'É'), normalize(E'e\u0301', nfc) = 'é', parse_ident('Éa.É'), to_char(date '2024-02-03', 'MONTH');
select 'é' < 'z', 'É' < 'é', 'a' < 'B';
create table ÉTÉ (É int, "É" int);
create table ÉTÉ (É int, A int);
select * from "ÉtÉ";
-- What is stored: generated columns, checks and indexes.
create table words (id int primary key, w text, low text generated always as (lower(w)) stored, constraint no_digits check (w !~ '[[:digit:]]'), constraint no_e check (w not ilike 'É%x'));
create unique index words_low on words (lower(w));
insert into words (id, w) values (1, 'É'), (2, 'é'), (3, 'Ab'), (5, 'éX');
insert into words (id, w) values (4, 'aB');
insert into words (id, w) values (6, 'ÉX');
insert into words (id, w) values (7, 'É') on conflict (lower(w)) do update set w = excluded.w || 'é' returning id, w, low;
create index words_up on words (upper(w));
select * from words order by id;
select id from words where lower(w) = 'é';
select id from words where lower(w) = 'ab';
select id from words where upper(w) = 'éX';
select id from words where w ilike 'é%' order by id;
select id from words where w ~* '^é' order by id;
select upper(w), count(*) from words group by 1 order by 1;
create view loud as select id, upper(w) as u from words where w ilike 'a%';
select * from loud;
prepare found (text) as select id from words where w ilike $1 order by id;
execute found ('é%');
execute found ('AB');
\c letters_copy
show lc_ctype;
select upper('é'), 'É' ~* 'é';
\c letters_posix
show lc_ctype;
show lc_collate;
select upper('é'), 'É' ilike 'é';
\c letters_utf
show lc_ctype;
select upper('é'), 'É' ilike 'é', 'é' ~ '[\é]';
select 'é' ~ '(?é)';
select 'É' ilike any (array['é']), jsonb_path_exists('"É"', '$ ? (@ like_regex "é" flag "i")');
\c postgres
show lc_ctype;
select upper('é'), 'É' ~* 'é', 'É' ilike 'é';
alter database letters_c rename to letters_d;
alter database letters_d connection limit 7;
select datname, datctype, datconnlimit from pg_database where datname = 'letters_d';
\c letters_d
select id from words where w ilike 'é%' order by id;
\c postgres
drop database letters_d;
drop database letters_posix;
drop database letters_copy;
drop database letters_same;
drop database letters_utf;
