EXPLAIN COST SELECT * FROM {s}.facts WHERE dim = 7
EXPLAIN COST SELECT * FROM {s}.facts
EXPLAIN COST SELECT * FROM {s}.mapped WHERE `a b` < 500
ALTER TABLE {s}.facts SET TBLPROPERTIES ('team' = 'one')
EXPLAIN COST SELECT * FROM {s}.facts WHERE dim = 7
EXPLAIN COST SELECT count(*) FROM {s}.facts f JOIN {s}.dims d ON f.dim = d.dim JOIN {s}.few e ON f.id = e.id
SELECT count(*) FROM {s}.facts
