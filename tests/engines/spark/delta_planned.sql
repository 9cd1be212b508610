EXPLAIN COST SELECT * FROM {s}.facts WHERE dim = 7
EXPLAIN COST SELECT * FROM {s}.facts
EXPLAIN COST SELECT * FROM {s}.mapped WHERE `a b` < 500
ALTER TABLE {s}.facts SET TBLPROPERTIES ('team' = 'one')
EXPLAIN COST SELECT * FROM {s}.facts WHERE dim = 7
SELECT count(*) FROM {s}.facts
