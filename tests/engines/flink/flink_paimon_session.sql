CREATE CATALOG pai WITH ('type' = 'paimon', 'metastore' = 'hive', 'uri' = '{m}', 'warehouse' = '{w}', 'lock.enabled' = 'true')
SHOW CATALOGS
USE CATALOG pai
CREATE DATABASE {s} WITH ('team' = 'one')
CREATE DATABASE {s}
SHOW DATABASES
USE {s}
CREATE TABLE t (id BIGINT COMMENT 'the key', data STRING, dd INT) PARTITIONED BY (dd) WITH ('bucket' = '-1', 'owner.team' = 'x', 'metastore.partitioned-table' = 'true')
CREATE TABLE t (id BIGINT)
DESCRIBE t
SHOW CREATE TABLE t
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, CAST(NULL AS STRING), 2)
SELECT * FROM t ORDER BY id
SELECT count(*) FROM t WHERE dd = 1
SHOW PARTITIONS t
INSERT INTO t VALUES (4, 'd', 3)
INSERT OVERWRITE t PARTITION (dd = 1) SELECT CAST(9 AS BIGINT), 'nine'
SELECT * FROM t ORDER BY id
SELECT commit_kind FROM `t$snapshots` ORDER BY snapshot_id
SELECT count(*) FROM `t$files`
SHOW PARTITIONS t
@exists t
@statistics t -
@statistics t dd=1
@statistics-of-all t
@partitions t -
ALTER TABLE t SET ('owner.team' = 'y')
ALTER TABLE t RESET ('owner.team')
ALTER TABLE t ADD (note STRING)
INSERT INTO t VALUES (5, 'e', 3, 'noted')
SELECT id, note FROM t ORDER BY id
ALTER TABLE t DROP note
ALTER TABLE t RENAME id TO key
ALTER TABLE t MODIFY key BIGINT COMMENT 'renamed'
DESCRIBE t
ALTER TABLE t DROP PARTITION (dd = 2)
@statistics t dd=3
@statistics-of-all t
SHOW PARTITIONS t
CALL sys.create_tag('{s}.t', 'one', 1)
SELECT count(*) FROM t /*+ OPTIONS('scan.tag-name' = 'one') */
CALL sys.expire_partitions('{s}.t', '1 d', 'yyyy-MM-dd', '$dd')
ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS
ANALYZE TABLE t COMPUTE STATISTICS
ALTER TABLE t RENAME TO u
SELECT count(*), max(key) FROM u
SELECT * FROM t
SHOW TABLES
CREATE TABLE k (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')
INSERT INTO k VALUES (1, 'one'), (2, 'two')
INSERT INTO k VALUES (2, 'zwei')
SELECT * FROM k ORDER BY id
SELECT * FROM k ORDER BY id
CREATE TABLE odd (a INT, p STRING) PARTITIONED BY (p) WITH ('metastore.partitioned-table' = 'true')
INSERT INTO odd VALUES (1, 'a b/c=d'), (2, CAST(NULL AS STRING)), (3, 'é:%')
SHOW PARTITIONS odd
@partitions odd -
@parameters odd p=é:%
SELECT a, p FROM odd ORDER BY a
INSERT OVERWRITE odd PARTITION (p = 'a b/c=d') SELECT 5
SELECT a FROM odd WHERE p = 'a b/c=d'
CREATE TABLE made AS SELECT key, data FROM u WHERE key < 5
SELECT * FROM made ORDER BY key
CREATE TABLE alike LIKE u
DESCRIBE alike
CREATE VIEW w AS SELECT key FROM u
SELECT count(*) FROM w
SHOW VIEWS
USE CATALOG hive
SHOW TABLES FROM {s}
USE CATALOG pai
USE {s}
DROP DATABASE {s}
DROP VIEW w
DROP TABLE odd
DROP TABLE alike
DROP TABLE made
DROP TABLE made
SHOW TABLES
