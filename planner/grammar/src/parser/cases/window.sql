select f() over (rows ‸unbounded following) ## 42P20 frame start cannot be UNBOUNDED FOLLOWING
select f() over (rows ‸1 following) ## 42P20 frame starting from following row cannot end with current row
select f() over (rows between ‸unbounded following and current row) ## 42P20 frame start cannot be UNBOUNDED FOLLOWING
select f() over (rows between 1 preceding and ‸unbounded preceding) ## 42P20 frame end cannot be UNBOUNDED PRECEDING
select f() over (rows between current row and ‸1 preceding) ## 42P20 frame starting from current row cannot have preceding rows
select f() over (rows between 1 following and ‸current row) ## 42P20 frame starting from following row cannot have preceding rows
select f() over (rows between 1 following and ‸1 preceding) ## 42P20 frame starting from following row cannot have preceding rows
select f() over (rows‸)
select f() over ("rows")
select f() over (partition‸)
select f() over (w partition by a order by b range between unbounded preceding and unbounded following exclude no others)
select f() over (rows unbounded‸)
select f() over (rows unbounded preceding exclude‸)
select f() over (rows between current and 1 following‸)
select a from t window w as (partition by a), x as (w)
select a from t window w‸
select from t where a group by b having c window w as () order by d limit 1
select 1 offset count(*) over () rows
select 1 window‸
select 1 window w as ‸a
select 1 window w as (a ‸b)
select 1 window w as (), w2 as ()
select 1 window ‸left as ()
select f() over (a partition‸)
select f() over (partition by‸)
select f() over (order by‸)
select f() over (order by a ‸partition by b)
select f() over (range‸)
select f() over ("range" rows current row)
select f() over (groups between 1 preceding and 2 preceding exclude ties)
select f() over (rows between 1 preceding‸)
select f() over (rows between 1 preceding and‸)
select f() over (rows current row exclude current‸)
select f() over (rows current row exclude group)
select f() over (rows current row exclude ‸all)
select f() over (rows unbounded.x preceding)
select f() over (rows a‸)
select f() over (rows between ‸unbounded following and unbounded preceding) ## 42P20 frame start cannot be UNBOUNDED FOLLOWING
select f() over (rows between a between 1 and 2 preceding and current row)
