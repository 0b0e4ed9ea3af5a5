-- Enums by other names and in other schemas: whatever names them goes along.
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE mood_x AS ENUM ('sad', 'ok');
CREATE TABLE p (a mood DEFAULT 'ok', b mood[] DEFAULT '{sad,happy}', c mood_x DEFAULT 'ok', d text DEFAULT 'ok', CHECK (a <> 'sad'), CHECK (a::text <> 'happy' OR b[1] = 'sad'::mood));
CREATE INDEX p_happy ON p (d) WHERE a = 'happy';
INSERT INTO p VALUES ('ok', '{ok,happy}'), ('happy', '{sad}');
CREATE VIEW v AS SELECT 'ok'::mood AS x, a, d FROM p WHERE a = 'ok' OR a::text = 'ok' OR b @> '{happy}' OR 'sad' = ANY (b);
CREATE VIEW w AS SELECT CAST('sad' AS mood_x) AS mood, * FROM jsonb_to_record('{"a":"ok"}') AS r(a mood);
ALTER TYPE mood RENAME VALUE 'ok' TO 'it''s fine';
ALTER TYPE mood RENAME VALUE 'happy' TO 'very, very happy';
\d p
\d+ v
SELECT * FROM v;
INSERT INTO p DEFAULT VALUES RETURNING *;
ALTER TYPE mood RENAME TO "Mood";
\d p
\d+ v
SELECT * FROM v;
SELECT mood FROM w;
ALTER TYPE "Mood" SET SCHEMA other;
\d p
\d+ v
SELECT * FROM v;
ALTER TYPE other."Mood" SET SCHEMA other;
ALTER TYPE other."Mood" SET SCHEMA nowhere;
ALTER TYPE nope SET SCHEMA other;
CREATE TYPE "Mood" AS ENUM ();
ALTER TYPE "Mood" SET SCHEMA other;
SET search_path = other;
CREATE VIEW u AS SELECT 'sad'::"Mood" AS m;
SET search_path = public;
SELECT * FROM other.u;
\d+ other.u
DROP TYPE other."Mood";
DROP VIEW v, w;
DROP TYPE other."Mood" CASCADE;
\d p
-- Privileges.
CREATE ROLE enum_user;
GRANT USAGE ON TYPE mood_x TO enum_user;
SELECT typacl FROM pg_type WHERE typname = 'mood_x';
\dT+ mood_x
REVOKE USAGE ON TYPE mood_x FROM public, enum_user;
SELECT typacl FROM pg_type WHERE typname = 'mood_x';
GRANT CREATE ON SCHEMA public TO enum_user;
SET ROLE enum_user;
CREATE TABLE mine (a mood_x);
SELECT 'ok'::mood_x;
RESET ROLE;
GRANT ALL ON TYPE mood_x TO enum_user;
SET ROLE enum_user;
CREATE TABLE mine (a mood_x);
RESET ROLE;
GRANT SELECT ON TYPE mood_x TO enum_user;
GRANT USAGE ON TYPE nope TO enum_user;
GRANT USAGE ON DOMAIN mood_x TO enum_user;
DROP ROLE enum_user;
DROP OWNED BY enum_user;
DROP ROLE enum_user;
-- A schema with types goes by another name.
CREATE SCHEMA sx;
CREATE TYPE sx.en AS ENUM ('q', 'r');
CREATE TABLE sx.te (a sx.en DEFAULT 'q', b int, CHECK (a <> 'r'));
CREATE VIEW ve AS SELECT 'r'::sx.en AS r, a FROM sx.te;
ALTER SCHEMA sx RENAME TO sy;
\d sy.te
INSERT INTO sy.te VALUES (DEFAULT) RETURNING a;
SELECT * FROM ve;
\d+ ve
CREATE TABLE sy.p (x int PRIMARY KEY);
CREATE TABLE oc (y int REFERENCES sy.p);
DROP VIEW ve;
DROP SCHEMA sy;
DROP SCHEMA sy CASCADE;
-- A label is used once it is committed.
CREATE TYPE e AS ENUM ('a', 'b');
CREATE TABLE te (x e);
BEGIN;
ALTER TYPE e ADD VALUE 'c';
SELECT 'a'::e, enum_first(NULL::e);
SELECT 'c'::e;
ROLLBACK;
BEGIN;
ALTER TYPE e ADD VALUE 'c';
SELECT enum_last(NULL::e);
ROLLBACK;
BEGIN;
ALTER TYPE e ADD VALUE 'c';
SELECT enum_range(NULL::e);
ROLLBACK;
BEGIN;
ALTER TYPE e ADD VALUE 'c';
INSERT INTO te VALUES ('c');
ROLLBACK;
BEGIN;
ALTER TYPE e ADD VALUE 'c' BEFORE 'b';
INSERT INTO te VALUES ('b');
COMMIT;
SELECT 'c'::e, enum_range(NULL::e);
INSERT INTO te VALUES ('c');
SELECT * FROM te ORDER BY x;
-- A prepared statement knows the labels there are.
PREPARE q AS SELECT $1::e AS p, x FROM te WHERE x = $1;
EXECUTE q('c');
ALTER TYPE e RENAME VALUE 'c' TO 'z';
EXECUTE q('z');
EXECUTE q('c');
ALTER TYPE e ADD VALUE 'y';
EXECUTE q('y');
