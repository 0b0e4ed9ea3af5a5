-- Regular expressions: manual 9.7.
select regexp_match('abb','a?(?:ab)?(b*)');
select regexp_match('abc01234xyz','(?:(.*?)(\d+)(.*)){1,1}'), regexp_match('abc01234xyz','(.*?)(\d+)(.*)');
select regexp_match('aba','(ab|a)*'); select regexp_match('abcd','(a|ab)(c|bcd)(d*)'); select regexp_match('ab,ab,ab','^(.+)(?:,\1)*$');
select regexp_match('aa','(a*)*'); select regexp_match('aaa','x*'); select regexp_match('a{','a{'); select regexp_match('abc','(|b)c');
select regexp_match('axbxb','a.*?b'),regexp_match('axbxb','(?:a.*?b){1}');
select 'a' ~ 'a{1'; select 'a' ~ 'a{256}'; select 'a' ~ '\q'; select 'a' ~ 'a\'; select 'a' ~ '(?Z)a'; select 'a' ~ '\1'; select 'a' ~ '(?<x>b)'; select 'a' ~ '(?'; select 'a' ~ 'a)'; select 'a' ~ '[[:foo:]]'; select 'a' ~ '[a'; select 'a' ~ '***a'; select 'a' ~ '(*)'; select 'a' ~ '^*'; select 'a'~'(?=a)*'; select 'a' ~ '[[.foo.]]'; select 'a' ~ 'a{1,x}'; select 'a' ~ '[a-\d]'; select 'a' ~ '(?P<n>a)'; select 'a' ~ '$*'; select 'aa' ~ '(a\1)';
select substring('foobar' similar '%#"o_b#"%' escape '#'), substring('abcdef' from '%#"cd#"%' for '#'), substring('abcdefg' similar 'a#"%#"g' escape '#'), substring('abcdefg' SIMILAR '#"(b_d)#"%' ESCAPE '#'), substring('abcdefg' similar 'a#"%#"x|g' escape '#'), substring('abcdefg' similar 'a#"%|ab#"g' escape '#'), substring('abcdefg' similar 'a*#"%#"g*' escape '#'), substring('abcdefg' similar 'a#"%g' escape '#'), substring('abcdefg' similar 'a%g' escape '#'), substring('abcdefg' similar '#"%#"' escape '#');
select substring('abcdefg' similar 'a*#"%#"g*#"x' escape '#');
select similar_to_escape('[[:alpha:]]\.x^$'), similar_to_escape('a.b^c$d|e*'), similar_escape('[]a]x%[^]%_]', '\');
select 'abc' like 'a\'; select 'abc' like 'x\'; select 'abc' like 'abc\'; select 'abc' ilike 'ABC\' ; select 'a\' like 'a\' escape ''; select 'abc' like 'a##' escape '##';
select 'abc '::char(5) ~ '^abc$', 'abc'::char(5) ~ '^abc *$',  'abc'::char(5) like 'abc', regexp_replace('abc'::char(5),'$','x'), 'abc'::char(5) ~~ 'abc  ';
select regexp_match('foobar','(?=foo)(...)'); select regexp_replace('abc','b','\0x'), regexp_replace('abc','(?i)B','[\&]');
select substring('XY1234Z', 'Y*([0-9]{1,3})'), substring('XY1234Z', 'Y*?([0-9]{1,3})');
select 'ab' ~ 'a(?=b)', 'ac' ~ 'a(?!b)', 'xab' ~ '(?<=x)a', 'abc' ~ '***=abc', 'ABC' ~ '(?i)abc', 'a.c' ~ '***=a.c';
select regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), regexp_split_to_array('hello world', '\s+'), regexp_split_to_array('the fox', '\s*');
select regexp_count('ABCABCAXYaxy', 'A.', 1, 'i'), regexp_instr('ABCDEFGHI', 'd..', 1, 1, 0, 'i'), regexp_substr('foobarbaz', 'b.', 1, 2);
select regexp_match(E'a\nb', '^b', 'n'), regexp_match(E'a\nb', 'a.b', 'p'), regexp_match(E'a\nb', '^b$', 'w');
select '\x6162'::bytea like '\x6125'::bytea, 'a' like b from (values ('a'), ('b'), ('_')) v(b);
-- Basic regular expressions.
select 'aab' ~ '(?b)a\{2\}b', 'a{2}b' ~ '(?b)a{2}b', 'a+b' ~ '(?b)a+b', 'ab' ~ '(?b)\(a\)b', 'aa' ~ '(?b)\(a\)\1', '(a)' ~ '(?b)(a)', '*a' ~ '(?b)*a', '*a' ~ '(?b)^*a', 'ab' ~ '(?b)^ab$', 'a^b' ~ '(?b)a^b', 'a|b' ~ '(?b)a|b', 'a$b' ~ '(?b)a$b', 'ab' ~ '(?b)\(ab$\)', 'ab' ~ '(?b)\(^ab\)', '[a]' ~ '(?b)[[]a[]]', 'b' ~ '(?b)a\{,1\}b', 'd' ~ '(?b)\d', 'ab' ~ '(?b)\<ab\>', '*a' ~ '(?b)\(*a\)';
select regexp_match('xaabx', 'a\{2\}\(b\)', 'b'), regexp_replace('a+b', 'a+', 'X', 'b');
select 'a' ~ '(?b)a\{1'; select 'a' ~ '(?b)a\{1}'; select 'a' ~ '(?b)\(a'; select 'a' ~ '(?b)a\)'; select 'a' ~ '(?b)a**'; select 'a' ~ '(?b)\'; select 'a{,3}' ~ '(?e)a{,3}';
