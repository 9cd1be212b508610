CREATE DATABASE {s}
CREATE TABLE {s}.t (id BIGINT COMMENT 'the key', name STRING, price DOUBLE, ts BIGINT, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (type = 'cow', primaryKey = 'id', preCombineField = 'ts', 'team' = 'one')
INSERT INTO {s}.t VALUES (1, 'a', 1.5, 1, '2024-01-01'), (2, 'b', 2.5, 1, '2024-01-02'), (3, NULL, 3.5, 1, '2024-01-02')
SELECT id, name, price, ts, day FROM {s}.t ORDER BY id
SHOW PARTITIONS {s}.t
DESCRIBE {s}.t
SHOW CREATE TABLE {s}.t
SHOW TBLPROPERTIES {s}.t
UPDATE {s}.t SET price = 9.0 WHERE id = 1
DELETE FROM {s}.t WHERE id = 2
MERGE INTO {s}.t AS t USING (SELECT 3L AS id, 'new' AS name, 4.5D AS price, 2L AS ts, '2024-01-02' AS day UNION ALL SELECT 4L, 'four', 4.0D, 1L, '2024-01-03') AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
SELECT id, name, price, ts, day FROM {s}.t ORDER BY id
SHOW PARTITIONS {s}.t
ALTER TABLE {s}.t DROP PARTITION (day = '2024-01-03')
SHOW PARTITIONS {s}.t
SELECT count(*) FROM {s}.t
INSERT OVERWRITE {s}.t PARTITION (day = '2024-01-01') VALUES (11, 'eleven', 1.0, 3)
SELECT id, name, price, ts, day FROM {s}.t ORDER BY id
ALTER TABLE {s}.t ADD COLUMNS (extra INT COMMENT 'added')
DESCRIBE {s}.t
INSERT INTO {s}.t VALUES (5, 'e', 5.5, 1, 50, 'a b=c/d')
SHOW PARTITIONS {s}.t
SELECT id, extra, day FROM {s}.t ORDER BY id
ALTER TABLE {s}.t SET TBLPROPERTIES ('team' = 'two')
SHOW TBLPROPERTIES {s}.t ('team')
ANALYZE TABLE {s}.t COMPUTE STATISTICS
ANALYZE TABLE {s}.t COMPUTE STATISTICS FOR ALL COLUMNS
DESCRIBE EXTENDED {s}.t
CREATE TABLE {s}.m (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts')
INSERT INTO {s}.m SELECT 1, 'a', 1
INSERT INTO {s}.m SELECT 1, 'b', 2
SELECT id, name, ts FROM {s}.m
SHOW TABLES IN {s}
SELECT id, name FROM {s}.m_ro
SELECT id, name FROM {s}.m_rt
DESCRIBE {s}.m_rt
SHOW TBLPROPERTIES {s}.m_ro
CREATE TABLE {s}.c USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{w}/elsewhere' AS SELECT id, id * 2 AS double FROM range(10)
SELECT count(*), sum(double) FROM {s}.c
CREATE TABLE {s}.again USING hudi LOCATION '{w}/elsewhere'
SELECT count(*) FROM {s}.again
TRUNCATE TABLE {s}.c
SELECT count(*) FROM {s}.c
ALTER TABLE {s}.c RENAME TO {s}.d
SELECT count(*) FROM {s}.d
CALL show_commits(table => '{s}.nothing')
CALL run_compaction(op => 'run', table => '{s}.m')
DROP TABLE {s}.again
DROP TABLE {s}.m
DROP TABLE {s}.d PURGE
SHOW TABLES IN {s}
DROP DATABASE {s}
