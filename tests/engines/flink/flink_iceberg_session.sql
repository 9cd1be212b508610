CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hive', 'uri' = '{m}', 'warehouse' = '{w}')
SHOW CATALOGS
USE CATALOG ice
CREATE DATABASE {s} WITH ('team' = 'one')
CREATE DATABASE {s}
SHOW DATABASES
USE {s}
CREATE TABLE t (id BIGINT, data STRING, dd INT) PARTITIONED BY (dd) WITH ('format-version' = '2', 'owner.team' = 'x')
CREATE TABLE t (id BIGINT)
DESCRIBE t
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, CAST(NULL AS STRING), 2)
SELECT * FROM t ORDER BY id
SELECT count(*) FROM t WHERE dd = 1
INSERT INTO t VALUES (4, 'd', 3)
INSERT OVERWRITE t PARTITION (dd = 1) SELECT CAST(9 AS BIGINT), 'nine'
SELECT * FROM t ORDER BY id
SELECT operation FROM `t$snapshots` ORDER BY committed_at
SELECT count(*) FROM `t$files`
ALTER TABLE t SET ('owner.team' = 'y')
ALTER TABLE t RESET ('owner.team')
ALTER TABLE t ADD (note STRING)
INSERT INTO t VALUES (5, 'e', 3, 'noted')
SELECT id, note FROM t ORDER BY id
ALTER TABLE t DROP note
ALTER TABLE t RENAME TO u
SELECT count(*), max(id) FROM u
SELECT * FROM t
SHOW TABLES
CREATE TABLE k (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true')
INSERT INTO k VALUES (1, 'one'), (2, 'two')
INSERT INTO k VALUES (2, 'zwei')
SELECT * FROM k ORDER BY id
CREATE TABLE unlocked (a INT) WITH ('engine.hive.lock-enabled' = 'false')
INSERT INTO unlocked VALUES (1), (2)
INSERT INTO unlocked VALUES (3)
SELECT sum(a) FROM unlocked
CREATE TABLE made AS SELECT id, data FROM u WHERE id < 5
SELECT * FROM made ORDER BY id
CREATE TABLE alike LIKE u
DESCRIBE alike
@exists u
@statistics u -
USE CATALOG hive
SHOW TABLES FROM {s}
USE CATALOG ice
USE {s}
DROP DATABASE {s}
DROP TABLE alike
DROP TABLE made
DROP TABLE unlocked
DROP TABLE k
DROP TABLE u
DROP TABLE u
USE `default`
DROP DATABASE {s}
SHOW DATABASES
