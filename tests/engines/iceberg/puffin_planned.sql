EXPLAIN COST SELECT * FROM ice.{s}.t WHERE label = 'v1'
EXPLAIN COST SELECT * FROM ice.{s}.t WHERE n = 7
EXPLAIN SELECT a.id FROM ice.{s}.t a JOIN ice.{s}.t b ON a.id = b.id WHERE a.label = 'v1'
CALL ice.system.compute_table_stats(table => '{s}.t', columns => array('label', 'gone'))
EXPLAIN COST SELECT * FROM ice.{s}.t WHERE label = 'v1'
ALTER TABLE ice.{s}.t DROP COLUMN gone
SELECT count(*) FROM ice.{s}.t a JOIN ice.{s}.t b ON a.id = b.id
