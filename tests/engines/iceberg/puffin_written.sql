CREATE DATABASE ice.{s}
CREATE TABLE ice.{s}.t (id bigint, label string, n int, day date, price decimal(9,2), gone string) USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')
INSERT INTO ice.{s}.t SELECT id, concat('v', id % 50), id % 1000, date_add(date'2026-01-01', CAST(id % 30 AS int)), id % 700, concat('g', id % 40) FROM range(100100)
DELETE FROM ice.{s}.t WHERE id >= 100000
EXPLAIN COST SELECT * FROM ice.{s}.t WHERE label = 'v1'
EXPLAIN SELECT a.id FROM ice.{s}.t a JOIN ice.{s}.t b ON a.id = b.id WHERE a.label = 'v1'
