CREATE SCHEMA {s} WITH (location = '{w}/{s}')
SELECT count(*) FROM hive.information_schema.schemata WHERE catalog_name = 'hive' AND schema_name = '{s}'
SELECT schema_name FROM hive.information_schema.schemata WHERE schema_name LIKE '%session' ORDER BY 1
CREATE TABLE {s}.people (id bigint COMMENT 'the key', name varchar, day date) COMMENT 'everyone' WITH (format = 'PARQUET', partitioned_by = ARRAY['day'])
INSERT INTO {s}.people VALUES (1, 'a', DATE '2024-01-01'), (2, 'b', DATE '2024-01-02')
CREATE TABLE {s}.seeds__dbt_tmp AS SELECT 1 AS a, 'x' AS b
CREATE OR REPLACE VIEW {s}.grown SECURITY INVOKER AS SELECT id FROM {s}.people WHERE id > 1
CREATE OR REPLACE VIEW {s}.grown SECURITY DEFINER AS SELECT id, name FROM {s}.people WHERE id > 1
SELECT * FROM {s}.grown
SELECT table_catalog, table_schema, table_name, table_type FROM hive.information_schema.tables WHERE table_schema = '{s}' ORDER BY 3
SELECT table_name, table_type FROM hive.information_schema.tables WHERE table_schema = '{s}' AND table_name = 'people'
SELECT table_name, column_name, ordinal_position, data_type FROM hive.information_schema.columns WHERE table_schema = '{s}' ORDER BY 1, 3
SELECT column_name, data_type FROM hive.information_schema.columns WHERE table_catalog = 'hive' AND table_schema = '{s}' AND table_name = 'grown' ORDER BY 1
SELECT table_name FROM hive.information_schema.views WHERE table_schema = '{s}'
@trino SELECT column_name, comment FROM hive.information_schema.columns WHERE table_schema = '{s}' AND table_name = 'people' ORDER BY ordinal_position
@trino SELECT schema_name, table_name, comment FROM system.metadata.table_comments WHERE catalog_name = 'hive' AND schema_name = '{s}' ORDER BY 2
@trino SELECT t.table_name, m.name FROM hive.information_schema.tables t LEFT JOIN (SELECT * FROM system.metadata.materialized_views WHERE catalog_name = 'hive' AND schema_name = '{s}') m ON m.name = t.table_name WHERE t.table_schema = '{s}' ORDER BY 1
@trino COMMENT ON TABLE {s}.people IS 'all of them'
@trino COMMENT ON COLUMN {s}.people.name IS 'the name'
@trino COMMENT ON COLUMN {s}.people.id IS NULL
@trino COMMENT ON VIEW {s}.grown IS 'those above 1'
@trino SELECT table_name, comment FROM system.metadata.table_comments WHERE catalog_name = 'hive' AND schema_name = '{s}' ORDER BY 1
@trino SHOW CREATE TABLE {s}.people
SHOW COLUMNS FROM {s}.people
ALTER TABLE {s}.people ADD COLUMN note varchar
ALTER TABLE {s}.seeds__dbt_tmp RENAME TO {s}.seeds
@trino ALTER VIEW {s}.grown RENAME TO {s}.adults
SELECT table_name, table_type FROM hive.information_schema.tables WHERE table_schema = '{s}' ORDER BY 1
SELECT column_name FROM hive.information_schema.columns WHERE table_schema = '{s}' AND table_name IN ('people', 'seeds', 'nothing') ORDER BY table_name, ordinal_position
DROP VIEW IF EXISTS {s}.adults
DROP VIEW IF EXISTS {s}.grown
DROP TABLE IF EXISTS {s}.seeds
DROP TABLE IF EXISTS {s}.seeds
DROP SCHEMA {s}
DROP TABLE IF EXISTS {s}.people
DROP SCHEMA IF EXISTS {s}
DROP SCHEMA IF EXISTS {s}
