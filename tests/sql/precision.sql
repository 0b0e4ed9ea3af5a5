-- Types of times with more digits of seconds than there are: six, and a warning. Manual 8.5.
create table pr (a timestamp(7), b timestamptz(8) default current_timestamp(9), c time(7), d interval(7), e timetz(7)[], f time(6));
\d pr
insert into pr (a, c, d, f) values ('2020-01-01 00:00:00.1234567'::timestamp(8), '10:00:00.1234567', '1.1234567', '10:00:00.1234567');
select a, c, d, f from pr;
select '2020-01-01'::timestamp(7), current_timestamp(7) is null, localtime(8) is null, interval(7) '1 second', interval '1' second(8), cast('10:00' as time(9) with time zone);
select timestamp(7) with time zone '2020-01-01 00:00+00', time(7) without time zone '10:00', timestamp '2020-01-01'::timestamp(99999);
select interval '1' day to second(7), '1'::interval second(9), current_time(7) is null, localtimestamp(8) is null;
alter table pr add column g timestamp(7);
alter table pr alter column g type timestamp(8);
alter table pr alter column g set default current_timestamp(9);
prepare p as select $1::timestamp(7);
execute p('2020-01-01');
prepare q(timestamp(7)) as select $1;
explain (costs off) select null::timestamp(7) = nosuch;
create view prv as select null::timestamp(7) as x;
select * from prv;
create table prt as select '2020-01-01'::timestamp(7) x;
create temp table prx (a timestamp check (a > timestamp(7) '2020-01-01'), b time(8) with time zone);
select second(7);
drop view prv;
drop table pr, prt;
