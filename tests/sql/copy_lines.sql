-- Ends of lines in what COPY reads: those of the first one, in all of it.
create table l (a text, b text);
\copy l from program 'printf "a\tb\rc\td\r"'
\copy l from program 'printf "a\tb\r\nc\td\r\n"'
\copy l from program 'printf "a\tb\r\nc\td\n"'
\copy l from program 'printf "a\tb\nc\td\r\n"'
\copy l from program 'printf "a\tb\rc\td\n"'
\copy l from program 'printf "a\tb\nc\td\\\\\r\n"'
\copy l from program 'printf "a\tb\rc\td\r"' (format csv, delimiter E'\t')
\copy l from program 'printf "a\tb\r\nc\td\r\n"' (format csv, delimiter E'\t')
\copy l from program 'printf "a,b\r\nc,d\n"' (format csv)
\copy l from program 'printf "a,b\nc,d\r\n"' (format csv)
\copy l from program 'printf "a,\"b\r\n\"\nc,\"d\r\"\n"' (format csv)
\copy l from program 'printf "a,b\r\nc,d"' (format csv)
select a, replace(replace(b, E'\r', '<CR>'), E'\n', '<LF>') as b, count(*) from l group by 1, 2 order by 1, 2;
