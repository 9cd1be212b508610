CREATE SCHEMA {s} WITH (location = '{w}/{s}')
SHOW CREATE SCHEMA {s}
CREATE TABLE {s}.t (id bigint COMMENT 'the key', name varchar, day date, price decimal(10,2), at timestamp(6)) COMMENT 'everything' WITH (partitioning = ARRAY['month(day)', 'bucket(id, 4)'])
CREATE TABLE {s}.t (id bigint)
CREATE TABLE IF NOT EXISTS {s}.t (id bigint)
INSERT INTO {s}.t VALUES (1, 'a', DATE '2024-01-01', 1.50, TIMESTAMP '2024-01-01 10:00:00'), (2, 'b', DATE '2024-02-02', 2.50, NULL), (3, NULL, NULL, NULL, NULL)
SELECT * FROM {s}.t ORDER BY id
SHOW STATS FOR {s}.t
ANALYZE {s}.t
SHOW STATS FOR {s}.t
SHOW STATS FOR (SELECT * FROM {s}.t WHERE day < DATE '2024-02-01')
ALTER TABLE {s}.t EXECUTE drop_extended_stats
ANALYZE {s}.t WITH (columns = ARRAY['name'])
SHOW STATS FOR {s}.t
UPDATE {s}.t SET name = 'c' WHERE id = 2
DELETE FROM {s}.t WHERE day = DATE '2024-01-01'
MERGE INTO {s}.t t USING (VALUES (2, 'two'), (9, 'nine')) s(id, name) ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)
SELECT id, name, day FROM {s}.t ORDER BY id
SELECT operation FROM {s}."t$snapshots" ORDER BY committed_at
SELECT count(*) FROM {s}."t$files"
SELECT sum(record_count) FROM {s}."t$partitions"
ALTER TABLE {s}.t ADD COLUMN note varchar COMMENT 'added'
ALTER TABLE {s}.t ADD COLUMN count integer
ALTER TABLE {s}.t ALTER COLUMN count SET DATA TYPE bigint
ALTER TABLE {s}.t RENAME COLUMN note TO remark
ALTER TABLE {s}.t DROP COLUMN price
ALTER TABLE {s}.t DROP COLUMN nothing
COMMENT ON TABLE {s}.t IS 'all of it'
COMMENT ON COLUMN {s}.t.name IS 'its name'
ALTER TABLE {s}.t SET PROPERTIES partitioning = ARRAY['name']
INSERT INTO {s}.t (id, name, remark, count) VALUES (10, 'ten', 'noted', 5000000000)
SHOW COLUMNS FROM {s}.t
SHOW CREATE TABLE {s}.t
SELECT id, remark, count FROM {s}.t ORDER BY id
ALTER TABLE {s}.t EXECUTE optimize
ALTER TABLE {s}.t EXECUTE expire_snapshots(retention_threshold => '7d')
ALTER TABLE {s}.t EXECUTE remove_orphan_files(retention_threshold => '1m')
SELECT count(*) FROM {s}.t
CREATE TABLE {s}.made WITH (sorted_by = ARRAY['x']) AS SELECT id AS x, name AS y FROM {s}.t WHERE id < 10
SELECT * FROM {s}.made ORDER BY x
CREATE OR REPLACE TABLE {s}.made AS SELECT 1 AS only
SELECT * FROM {s}.made
SHOW COLUMNS FROM {s}.made
INSERT INTO {s}.made SELECT 2
TRUNCATE TABLE {s}.made
SELECT count(*) FROM {s}.made
ALTER TABLE {s}.made RENAME TO {s}.named
SELECT count(*) FROM {s}.named
SELECT count(*) FROM {s}.made
CREATE VIEW {s}.seen COMMENT 'a view' AS SELECT id, name FROM {s}.t
SELECT count(*) FROM {s}.seen
SHOW CREATE VIEW {s}.seen
CREATE OR REPLACE VIEW {s}.seen AS SELECT id FROM {s}.t
ALTER VIEW {s}.seen RENAME TO {s}.saw
COMMENT ON VIEW {s}.saw IS 'it was seen'
CREATE MATERIALIZED VIEW {s}.kept AS SELECT name, count(*) AS n FROM {s}.t GROUP BY name
REFRESH MATERIALIZED VIEW {s}.kept
SELECT * FROM {s}.kept ORDER BY name
SELECT name, freshness FROM system.metadata.materialized_views WHERE schema_name = '{s}'
SHOW CREATE MATERIALIZED VIEW {s}.kept
ALTER MATERIALIZED VIEW {s}.kept RENAME TO {s}.stored
INSERT INTO {s}.t (id, name) VALUES (11, 'ten')
REFRESH MATERIALIZED VIEW {s}.stored
SELECT * FROM {s}.stored ORDER BY name
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = '{s}' ORDER BY 1
SELECT table_name, comment FROM system.metadata.table_comments WHERE catalog_name = 'iceberg' AND schema_name = '{s}' ORDER BY 1
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = '{s}' ORDER BY table_name, ordinal_position
SELECT count(*) FROM hive.{s}.t
SHOW TABLES FROM hive.{s}
CALL system.unregister_table('{s}', 'named')
SHOW TABLES FROM {s}
CALL system.register_table('{s}', 'named', '{w}/{s}/named')
DROP SCHEMA {s}
DROP MATERIALIZED VIEW {s}.stored
DROP VIEW {s}.saw
DROP TABLE {s}.t
DROP TABLE {s}.t
SHOW TABLES FROM {s}
DROP SCHEMA {s}
SHOW SCHEMAS
