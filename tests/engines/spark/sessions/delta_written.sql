CREATE DATABASE {s}
CREATE TABLE {s}.facts (id BIGINT, Dim INT, note STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')
INSERT INTO {s}.facts SELECT id, CAST(id % 100 AS INT), repeat('x', 500) FROM range(20000)
DELETE FROM {s}.facts WHERE id < 5000
CREATE TABLE {s}.mapped (`a b` BIGINT, c STRING) USING delta PARTITIONED BY (c) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')
INSERT INTO {s}.mapped SELECT id, CAST(id % 7 AS STRING) FROM range(1000)
CREATE TABLE {s}.dims USING delta AS SELECT CAST(id AS INT) AS dim, repeat('y', 3000) AS label FROM range(100000)
CREATE TABLE {s}.few USING delta AS SELECT id * 1000 AS id FROM range(10)
EXPLAIN COST SELECT count(*) FROM {s}.facts f JOIN {s}.dims d ON f.dim = d.dim JOIN {s}.few e ON f.id = e.id
EXPLAIN COST SELECT * FROM {s}.facts WHERE dim = 7
