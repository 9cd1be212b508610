CREATE DATABASE ice.{s}
CREATE TABLE ice.{s}.two (a bigint, b string) USING iceberg PARTITIONED BY (bucket(2, a)) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')
INSERT INTO ice.{s}.two SELECT id, CAST(id % 7 AS string) FROM range(1000)
DELETE FROM ice.{s}.two WHERE a < 10
CREATE TABLE ice.{s}.three (a bigint, b string) USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')
INSERT INTO ice.{s}.three SELECT id, CAST(id % 7 AS string) FROM range(1000)
DELETE FROM ice.{s}.three WHERE a < 20
SELECT count(*) FROM ice.{s}.three
