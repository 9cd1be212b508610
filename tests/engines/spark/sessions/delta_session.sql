CREATE DATABASE {s}
CREATE TABLE {s}.t (a BIGINT COMMENT 'the key', b STRING) USING delta PARTITIONED BY (b) COMMENT 'in a log' TBLPROPERTIES ('team' = 'one')
INSERT INTO {s}.t VALUES (1, 'x'), (2, 'y'), (3, NULL)
SELECT * FROM {s}.t ORDER BY a
SELECT count(*) FROM {s}.t WHERE b = 'x'
UPDATE {s}.t SET a = 11 WHERE b = 'x'
DELETE FROM {s}.t WHERE a = 2
MERGE INTO {s}.t t USING (SELECT 11L AS a UNION ALL SELECT 9L) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 'z' WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, 'new')
SELECT * FROM {s}.t ORDER BY a
ALTER TABLE {s}.t ADD COLUMN c INT
INSERT INTO {s}.t VALUES (4, 'x', 40)
SELECT sum(c) FROM {s}.t
SELECT version, operation FROM (DESCRIBE HISTORY {s}.t) ORDER BY version
DESCRIBE {s}.t
SHOW CREATE TABLE {s}.t
ALTER TABLE {s}.t SET TBLPROPERTIES ('team' = 'two')
SHOW TBLPROPERTIES {s}.t ('team')
SHOW COLUMNS IN {s}.t
SHOW PARTITIONS {s}.t
ANALYZE TABLE {s}.t COMPUTE STATISTICS
ANALYZE TABLE {s}.t COMPUTE STATISTICS FOR ALL COLUMNS
SELECT count(*) FROM {s}.t VERSION AS OF 1
CREATE TABLE {s}.away USING delta LOCATION '{w}/elsewhere' AS SELECT a, b FROM {s}.t WHERE a < 10
CREATE TABLE {s}.again USING delta LOCATION '{w}/elsewhere'
SELECT count(*) FROM {s}.again
CREATE TABLE {s}.made USING delta AS SELECT id, id * 2 AS double FROM range(100)
CREATE OR REPLACE TABLE {s}.made USING delta AS SELECT id FROM range(10)
SELECT count(*) FROM {s}.made
DESCRIBE {s}.made
INSERT OVERWRITE {s}.made SELECT 5
SELECT * FROM {s}.made
OPTIMIZE {s}.t
VACUUM {s}.t RETAIN 168 HOURS DRY RUN
CREATE TABLE {s}.plain USING parquet AS SELECT id FROM range(3)
CONVERT TO DELTA {s}.plain
SELECT count(*) FROM {s}.plain
CREATE TABLE {s}.copied SHALLOW CLONE {s}.made
SELECT * FROM {s}.copied
ALTER TABLE {s}.made RENAME TO {s}.named
SELECT * FROM {s}.named
SELECT * FROM {s}.made
CREATE TABLE {s}.named (a INT) USING delta
CREATE VIEW {s}.v AS SELECT a FROM {s}.t
SELECT count(*) FROM {s}.v
SHOW TABLES IN {s}
DROP TABLE {s}.away
SELECT count(*) FROM {s}.again
DROP TABLE {s}.nothing
DROP DATABASE {s}
DROP DATABASE {s} CASCADE
