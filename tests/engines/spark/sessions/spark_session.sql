CREATE DATABASE {s} COMMENT 'a session' WITH DBPROPERTIES ('owner.team' = 'a')
SHOW DATABASES LIKE '{s}'
DESCRIBE DATABASE EXTENDED {s}
ALTER DATABASE {s} SET DBPROPERTIES ('edited' = 'yes')
DESCRIBE DATABASE EXTENDED {s}
CREATE TABLE {s}.people (id bigint COMMENT 'the key', name string, born date, paid decimal(12,2)) USING parquet COMMENT 'everyone'
INSERT INTO {s}.people VALUES (1, 'Ann', DATE '1990-01-02', 10.50), (2, 'Ben', NULL, -3.25), (3, NULL, DATE '2001-12-31', NULL)
SELECT * FROM {s}.people ORDER BY id
ANALYZE TABLE {s}.people COMPUTE STATISTICS NOSCAN
ANALYZE TABLE {s}.people COMPUTE STATISTICS
ANALYZE TABLE {s}.people COMPUTE STATISTICS FOR COLUMNS id, name
ANALYZE TABLE {s}.people COMPUTE STATISTICS FOR ALL COLUMNS
DESCRIBE EXTENDED {s}.people
DESCRIBE EXTENDED {s}.people paid
CREATE TABLE {s}.logs (line string) STORED AS TEXTFILE
INSERT INTO {s}.logs VALUES ('a'), ('b')
SELECT count(*) FROM {s}.logs
SHOW CREATE TABLE {s}.logs
CREATE TABLE {s}.copied STORED AS ORC AS SELECT id, name FROM {s}.people
SELECT * FROM {s}.copied ORDER BY id
CREATE TABLE {s}.sales (id bigint, price double) PARTITIONED BY (region string, day int) STORED AS PARQUET
INSERT INTO {s}.sales PARTITION (region = 'eu', day = 1) VALUES (1, 1.5), (2, 2.5)
SET hive.exec.dynamic.partition.mode = nonstrict
INSERT INTO {s}.sales PARTITION (region, day) SELECT id, id * 0.5, CASE WHEN id % 2 = 0 THEN 'us' ELSE 'a/b=c d' END, CAST(id % 3 AS int) FROM range(12)
INSERT INTO {s}.sales PARTITION (region, day) VALUES (99, 9.9, NULL, 7)
SHOW PARTITIONS {s}.sales
SHOW PARTITIONS {s}.sales PARTITION (region = 'us')
SELECT region, day, count(*) FROM {s}.sales WHERE region = 'us' GROUP BY 1, 2 ORDER BY 1, 2
SELECT count(*) FROM {s}.sales WHERE region like 'a%' AND day >= 1
SELECT count(*) FROM {s}.sales WHERE region IN ('eu', 'us') AND day BETWEEN 1 AND 2
SELECT count(*) FROM {s}.sales WHERE region = 'a/b=c d'
SELECT count(*) FROM {s}.sales WHERE region IS NULL
ALTER TABLE {s}.sales ADD PARTITION (region = 'jp', day = 5)
ALTER TABLE {s}.sales ADD PARTITION (region = 'jp', day = 5)
ALTER TABLE {s}.sales ADD IF NOT EXISTS PARTITION (region = 'jp', day = 5) PARTITION (region = 'jp', day = 6)
ALTER TABLE {s}.sales PARTITION (region = 'jp', day = 6) RENAME TO PARTITION (region = 'jp', day = 8)
ALTER TABLE {s}.sales DROP PARTITION (region = 'jp', day = 5)
ALTER TABLE {s}.sales DROP PARTITION (region = 'jp', day = 5)
SHOW PARTITIONS {s}.sales
ANALYZE TABLE {s}.sales PARTITION (region = 'us', day = 0) COMPUTE STATISTICS
ANALYZE TABLE {s}.sales PARTITION (region, day) COMPUTE STATISTICS
DESCRIBE EXTENDED {s}.sales PARTITION (region = 'us', day = 0)
INSERT OVERWRITE TABLE {s}.sales PARTITION (region = 'eu', day = 1) VALUES (5, 5.5)
SELECT * FROM {s}.sales WHERE region = 'eu' ORDER BY id
ALTER TABLE {s}.sales PARTITION (region = 'eu', day = 1) SET LOCATION '{w}/elsewhere'
SELECT * FROM {s}.sales WHERE region = 'eu' ORDER BY id
TRUNCATE TABLE {s}.sales PARTITION (region = 'us', day = 0)
SELECT count(*) FROM {s}.sales WHERE region = 'us'
TRUNCATE TABLE {s}.copied
SELECT count(*) FROM {s}.copied
CREATE TABLE {s}.events (id bigint, day string) USING parquet PARTITIONED BY (day)
INSERT INTO {s}.events VALUES (1, 'mon'), (2, 'tue')
MSCK REPAIR TABLE {s}.events
SHOW PARTITIONS {s}.events
CREATE EXTERNAL TABLE {s}.outside (id bigint) PARTITIONED BY (day string) STORED AS PARQUET LOCATION '{w}/{s}.db/events'
MSCK REPAIR TABLE {s}.outside
SELECT * FROM {s}.outside ORDER BY id
ALTER TABLE {s}.people ADD COLUMNS (note string COMMENT 'later')
ALTER TABLE {s}.people CHANGE COLUMN note note string COMMENT 'changed'
ALTER TABLE {s}.people SET TBLPROPERTIES ('a.key' = 'a value')
ALTER TABLE {s}.people UNSET TBLPROPERTIES ('a.key')
SHOW TBLPROPERTIES {s}.people ('a.key')
DESCRIBE {s}.people
CREATE VIEW {s}.named (who COMMENT 'a name') AS SELECT name FROM {s}.people WHERE name IS NOT NULL
SELECT * FROM {s}.named ORDER BY who
ALTER VIEW {s}.named AS SELECT upper(name) AS who FROM {s}.people WHERE name IS NOT NULL
SELECT * FROM {s}.named ORDER BY who
SHOW VIEWS IN {s}
ALTER TABLE {s}.people RENAME TO {s}.folk
SELECT count(*) FROM {s}.folk
DESCRIBE EXTENDED {s}.folk id
SHOW TABLES IN {s}
SHOW TABLE EXTENDED IN {s} LIKE 'fo*'
CREATE FUNCTION {s}.shout AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper'
SHOW USER FUNCTIONS IN {s} LIKE 'sh*'
DROP FUNCTION {s}.shout
CREATE TABLE {s}.people (id int) USING parquet
CREATE TABLE {s}.folk (id int) USING parquet
DROP TABLE {s}.nothing
DROP TABLE IF EXISTS {s}.nothing
DROP VIEW {s}.named
DROP TABLE {s}.outside
SELECT count(*) FROM {s}.events
DROP DATABASE {s}
DROP DATABASE {s} CASCADE
SHOW DATABASES LIKE '{s}'
