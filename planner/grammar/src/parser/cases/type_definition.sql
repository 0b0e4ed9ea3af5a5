CREATE TYPE ‸a.b.c.d AS (x int) ## 42601 improper qualified name (too many dotted names): a.b.c.d
CREATE TYPE a.b.c.d AS ENUM ()
CREATE TYPE t AS (a int COLLATE "C" ‸NOT NULL)
CREATE TYPE t AS‸
CREATE TYPE t AS ENUM ('a', 'b',‸)
CREATE TYPE t AS RANGE (subtype = int4)
CREATE TYPE t AS ()
