CREATE DATABASE {s}
SET spark.databricks.delta.retentionDurationCheck.enabled = false
CREATE TABLE {s}.restored (id BIGINT, k STRING) USING delta PARTITIONED BY (k) TBLPROPERTIES ('delta.checkpointInterval' = '2')
INSERT INTO {s}.restored SELECT id, concat('k', id % 3) FROM range(0, 200)
INSERT INTO {s}.restored SELECT id, concat('k', id % 3) FROM range(200, 300)
INSERT INTO {s}.restored SELECT id, 'later' FROM range(300, 900)
DELETE FROM {s}.restored WHERE id < 150
RESTORE TABLE {s}.restored TO VERSION AS OF 2
OPTIMIZE {s}.restored
VACUUM {s}.restored RETAIN 0 HOURS
CREATE TABLE {s}.clustered (id BIGINT, k STRING) USING delta CLUSTER BY (id) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')
INSERT INTO {s}.clustered SELECT id, concat('k', id % 7) FROM range(1000)
OPTIMIZE {s}.clustered
DELETE FROM {s}.clustered WHERE id BETWEEN 500 AND 600
UPDATE {s}.clustered SET id = id + 5000, k = NULL WHERE id > 900
ALTER TABLE {s}.clustered CLUSTER BY (k)
INSERT INTO {s}.clustered SELECT -id, 'more' FROM range(10)
CREATE TABLE {s}.renamed (id BIGINT, was STRING, k STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
INSERT INTO {s}.renamed SELECT id, concat('k', id % 10), 'gone' FROM range(1000)
ALTER TABLE {s}.renamed DROP COLUMN k
ALTER TABLE {s}.renamed RENAME COLUMN was TO k
ALTER TABLE {s}.renamed ADD COLUMN was STRING
INSERT INTO {s}.renamed SELECT id, 'new', 'z' FROM range(100)
ALTER TABLE {s}.renamed RENAME TO {s}.other
ALTER TABLE {s}.other RENAME TO {s}.renamed
CREATE TABLE {s}.widened (id SMALLINT, k STRING) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
INSERT INTO {s}.widened SELECT id, 'k' FROM range(100)
ALTER TABLE {s}.widened ALTER COLUMN id TYPE BIGINT
INSERT INTO {s}.widened SELECT 3000000000 + id, NULL FROM range(50)
SELECT count(*), count(id), min(id), max(id), count(k), count(DISTINCT k), max(octet_length(k)) FROM {s}.restored
SELECT count(*), count(id), min(id), max(id), count(k), count(DISTINCT k), max(octet_length(k)) FROM {s}.clustered
SELECT count(*), count(id), min(id), max(id), count(k), count(DISTINCT k), max(octet_length(k)) FROM {s}.renamed
SELECT count(*), count(id), min(id), max(id), count(k), count(DISTINCT k), max(octet_length(k)) FROM {s}.widened
