-- A condition that calls what answers differently each time is asked of each pair of rows, in outer joins too.
create sequence s;
create table l (a int);
create table r (b int);
insert into l select generate_series(1, 3);
insert into r select generate_series(1, 3);
select count(*), count(distinct a) from l left join r on nextval('s') % 2 = 0;
select currval('s');
select count(*), count(distinct b) from l right join r on nextval('s') % 2 = 0;
select currval('s');
select a, count(b) from l left join r on a = b and nextval('s') > 0 group by a order by a;
select currval('s');
select count(*) between 150 and 250, count(distinct a) from generate_series(1, 20) a left join generate_series(1, 20) b on random() < 0.5;
select bool_or(n not in (0, 20)) from (select a, count(b) as n from generate_series(1, 20) a left join generate_series(1, 20) b on random() < 0.5
    group by a) x;
select bool_or(n not in (0, 20)) from (select b, count(a) as n from generate_series(1, 20) a left join generate_series(1, 20) b on random() < 0.5
    group by b) x;
select bool_or(n not in (0, 20)) from (select a, count(b) as n from generate_series(1, 20) a left join generate_series(1, 20) b
    on a > 3 and random() < 0.5 group by a) x;
select count(*) from l left join r on random() < 0;
select count(*), count(b) from l left join r on random() >= 0 and b > 1;
