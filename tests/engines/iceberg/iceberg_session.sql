CREATE NAMESPACE ice.{s}
CREATE TABLE ice.{s}.t (a bigint, b string) USING iceberg PARTITIONED BY (b) TBLPROPERTIES ('owner.team' = 'x')
INSERT INTO ice.{s}.t VALUES (1, 'x'), (2, 'y'), (3, NULL)
SELECT * FROM ice.{s}.t ORDER BY a
SELECT * FROM ice.{s}.t WHERE b = 'x'
ALTER TABLE ice.{s}.t ADD COLUMN c int
UPDATE ice.{s}.t SET c = 5 WHERE a = 1
DELETE FROM ice.{s}.t WHERE a = 2
MERGE INTO ice.{s}.t t USING (SELECT 1L AS a UNION ALL SELECT 9L) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET c = 6 WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)
SELECT * FROM ice.{s}.t ORDER BY a
SELECT operation FROM ice.{s}.t.snapshots ORDER BY committed_at
ALTER TABLE ice.{s}.t ADD PARTITION FIELD bucket(4, a)
ALTER TABLE ice.{s}.t RENAME COLUMN c TO d
ALTER TABLE ice.{s}.t SET TBLPROPERTIES ('owner.team' = 'y')
INSERT OVERWRITE ice.{s}.t SELECT a, b, d FROM ice.{s}.t
SHOW TBLPROPERTIES ice.{s}.t ('owner.team')
ALTER TABLE ice.{s}.t RENAME TO ice.{s}.u
SELECT count(*), max(d) FROM ice.{s}.u
SELECT * FROM ice.{s}.t
SHOW TABLES IN ice.{s}
CREATE TABLE ice.{s}.w USING iceberg AS SELECT * FROM ice.{s}.u WHERE a < 3
REPLACE TABLE ice.{s}.w USING iceberg AS SELECT a FROM ice.{s}.u
SELECT * FROM ice.{s}.w ORDER BY a
CREATE VIEW ice.{s}.v AS SELECT a FROM ice.{s}.u
SELECT * FROM ice.{s}.v ORDER BY a
SHOW VIEWS IN ice.{s}
DROP VIEW ice.{s}.v
CALL ice.system.rewrite_data_files('{s}.u')
CREATE TABLE ice.{s}.u (a int) USING iceberg
DROP NAMESPACE ice.{s}
DROP TABLE ice.{s}.w
DROP TABLE ice.{s}.u
DROP TABLE ice.{s}.u
SHOW TABLES IN ice.{s}
DROP NAMESPACE ice.{s}
