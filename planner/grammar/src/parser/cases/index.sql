CREATE INDEX i ON ONLY t USING gist (a int4_ops (x = 1) ASC NULLS FIRST, lower(b) COLLATE "C", (c + 1) nulls, nulls NULLS LAST, a.b(c)) INCLUDE (x, lower(y) DESC) NULLS NOT DISTINCT WITH (fillfactor = 3) TABLESPACE x WHERE a IS NULL
CREATE INDEX CONCURRENTLY IF NOT EXISTS ‸ON t (a)
CREATE INDEX if ON t (a)
CREATE INDEX ON t (a asc ‸nulls foo)
CREATE INDEX ON t ((a), (a‸, b))
CREATE INDEX ON t (a.b‸)
CREATE INDEX ON t (current_date, cast(a as int), coalesce(a, b), left(a, 1))
CREATE INDEX ON t (a ‸+ 1)
CREATE INDEX ON t (f(a) over (‸))
CREATE INDEX ON t (‸)
CREATE INDEX ON t (a) WITH (a) WHERE a COLLATE "C" > b
CREATE INDEX ON t (a) WHERE a ‸TABLESPACE x
CREATE INDEX ON t (‸NULLS LAST)
CREATE INDEX ON t (nulls)
