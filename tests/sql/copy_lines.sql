-- Ends of lines in what COPY reads: those of the first one, in all of it.
create table l (a text, b text);
\! printf 'a\tb\rc\td\r' > /tmp/percosql_copy_cr.txt
\copy l from '/tmp/percosql_copy_cr.txt'
\! printf 'a\tb\r\nc\td\r\n' > /tmp/percosql_copy_crlf.txt
\copy l from '/tmp/percosql_copy_crlf.txt'
\! printf 'a\tb\r\nc\td\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt'
\! printf 'a\tb\nc\td\r\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt'
\! printf 'a\tb\rc\td\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt'
\! printf 'a\tb\nc\td\\\r\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt'
\copy l from '/tmp/percosql_copy_cr.txt' (format csv, delimiter E'\t')
\copy l from '/tmp/percosql_copy_crlf.txt' (format csv, delimiter E'\t')
\! printf 'a,b\r\nc,d\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt' (format csv)
\! printf 'a,b\nc,d\r\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt' (format csv)
\! printf 'a,"b\r\n"\nc,"d\r"\n' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt' (format csv)
\! printf 'a,b\r\nc,d' > /tmp/percosql_copy_mixed.txt
\copy l from '/tmp/percosql_copy_mixed.txt' (format csv)
\! rm /tmp/percosql_copy_*.txt
select a, replace(replace(b, E'\r', '<CR>'), E'\n', '<LF>') as b, count(*) from l group by 1, 2 order by 1, 2;
