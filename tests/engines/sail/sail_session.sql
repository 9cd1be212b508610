SHOW DATABASES
CREATE DATABASE sail COMMENT 'of Sail' LOCATION '{w}/odd place/sail.db'
CREATE DATABASE sail
DESCRIBE DATABASE sail
CREATE TABLE sail.people (id BIGINT COMMENT 'the key', name STRING, born DATE, paid DECIMAL(12,2)) USING parquet COMMENT 'everyone' LOCATION '{w}/people'
CREATE TABLE sail.people (id BIGINT) USING parquet
INSERT INTO sail.people VALUES (1, 'a', DATE '2000-01-01', 1.50), (2, 'b', NULL, 2.50), (3, NULL, DATE '1999-12-31', 3.50)
SELECT * FROM sail.people ORDER BY id
SELECT count(*) FROM sail.people WHERE id > 1
SHOW TABLES IN sail
DESCRIBE EXTENDED sail.people
CREATE TABLE sail.sales (id BIGINT, price DOUBLE, region STRING, day INT) USING parquet PARTITIONED BY (region, day) LOCATION '{w}/sales'
INSERT INTO sail.sales VALUES (1, 1.5, 'us', 1), (2, 2.5, 'a b=c/d', 2), (3, 3.5, 'us', 2)
SELECT * FROM sail.sales ORDER BY id
SELECT * FROM sail.sales WHERE region = 'us' AND day = 2
ALTER TABLE sail.people SET TBLPROPERTIES ('team' = 'one')
DESCRIBE EXTENDED sail.people
ALTER TABLE sail.people UNSET TBLPROPERTIES ('team')
SHOW TABLES IN sail
CREATE VIEW sail.seen AS SELECT id FROM sail.sales
SELECT * FROM sail.seen ORDER BY id
SHOW VIEWS IN sail
CREATE TABLE sail.copied USING parquet LOCATION '{w}/copied' AS SELECT * FROM sail.sales
SELECT count(*) FROM sail.copied
CREATE TABLE sail.texts (line STRING) USING csv LOCATION '{w}/texts'
INSERT INTO sail.texts VALUES ('x,y')
SELECT * FROM sail.texts
CREATE TABLE sail.logged (id BIGINT, v STRING) USING delta LOCATION '{w}/logged'
INSERT INTO sail.logged VALUES (1, 'one')
INSERT INTO sail.logged VALUES (2, 'two')
SELECT * FROM sail.logged ORDER BY id
SELECT * FROM sail.absent
DROP VIEW sail.seen
DROP TABLE sail.sales
DROP TABLE sail.absent
DROP TABLE IF EXISTS sail.absent
DROP DATABASE sail
