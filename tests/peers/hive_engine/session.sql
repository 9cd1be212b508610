-- a database
CREATE DATABASE shop COMMENT 'what is sold' LOCATION '{w}/shop.db' WITH DBPROPERTIES ('owner.team'='north')
DESCRIBE DATABASE EXTENDED shop
SHOW DATABASES LIKE 'sho*'
USE shop
-- a managed ORC table whose statistics are gathered while it is written
CREATE TABLE items (id int, label string, cost decimal(10,2), stocked boolean, since date, seen timestamp, weight double, code char(4), kind varchar(12), big bigint) STORED AS ORC
DESCRIBE FORMATTED items
SELECT count(*) FROM items
EXPLAIN SELECT count(*) FROM items
INSERT INTO items VALUES (1, 'lamp', 19.90, true, date '2023-03-01', timestamp '2023-03-01 08:00:00', 1.25, 'L1', 'light', 10000000000), (2, 'desk', 149.00, false, date '2023-04-15', timestamp '2023-04-15 12:30:00.5', 30.0, 'D1', 'furniture', -1), (3, 'lamp', null, true, null, null, 1.5, 'L2', 'light', null)
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items id
DESCRIBE FORMATTED items label
DESCRIBE FORMATTED items cost
DESCRIBE FORMATTED items stocked
DESCRIBE FORMATTED items since
DESCRIBE FORMATTED items seen
DESCRIBE FORMATTED items weight
DESCRIBE FORMATTED items code
DESCRIBE FORMATTED items kind
DESCRIBE FORMATTED items big
SELECT count(*), count(cost), min(id), max(big), min(since), max(weight) FROM items
EXPLAIN SELECT count(*), count(cost), min(id), max(big) FROM items
EXPLAIN SELECT * FROM items WHERE id >= 2
EXPLAIN SELECT kind, sum(cost) FROM items GROUP BY kind
INSERT INTO items VALUES (20, 'chair', 55.50, false, date '2020-01-01', timestamp '2026-01-01 00:00:00', -2.0, 'C1', 'furniture', 7), (21, null, null, null, null, null, null, null, null, null)
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items id
DESCRIBE FORMATTED items label
DESCRIBE FORMATTED items seen
SELECT count(*), count(label), min(id), max(id) FROM items
INSERT OVERWRITE TABLE items SELECT * FROM items WHERE id < 21
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items cost
-- statistics by hand
ALTER TABLE items UPDATE STATISTICS FOR COLUMN id SET ('numDVs'='50', 'numNulls'='0', 'lowValue'='-9', 'highValue'='900')
DESCRIBE FORMATTED items id
ALTER TABLE items UPDATE STATISTICS FOR COLUMN label SET ('numDVs'='3', 'numNulls'='1', 'avgColLen'='4.5', 'maxColLen'='9')
DESCRIBE FORMATTED items label
ALTER TABLE items UPDATE STATISTICS FOR COLUMN stocked SET ('numTrues'='2', 'numFalses'='2', 'numNulls'='0')
DESCRIBE FORMATTED items stocked
ALTER TABLE items UPDATE STATISTICS FOR COLUMN since SET ('numDVs'='2', 'numNulls'='1', 'lowValue'='2019-12-31', 'highValue'='2024-02-29')
DESCRIBE FORMATTED items since
ALTER TABLE items UPDATE STATISTICS FOR COLUMN weight SET ('numDVs'='4', 'numNulls'='0', 'lowValue'='-2.5', 'highValue'='1e3')
DESCRIBE FORMATTED items weight
ALTER TABLE items UPDATE STATISTICS FOR COLUMN cost SET ('numDVs'='4', 'numNulls'='0', 'lowValue'='0.01', 'highValue'='1234.5')
DESCRIBE FORMATTED items cost
ALTER TABLE items UPDATE STATISTICS FOR COLUMN nowhere SET ('numDVs'='4')
ALTER TABLE items UPDATE STATISTICS SET ('numRows'='5000', 'rawDataSize'='77777')
DESCRIBE FORMATTED items
SELECT count(*) FROM items
EXPLAIN SELECT * FROM items WHERE id = 2
ANALYZE TABLE items COMPUTE STATISTICS
DESCRIBE FORMATTED items
ANALYZE TABLE items COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items id
SET hive.stats.column.autogather=false
INSERT INTO items (id, label) VALUES (40, 'rug')
DESCRIBE FORMATTED items
EXPLAIN SELECT max(id) FROM items
ANALYZE TABLE items COMPUTE STATISTICS FOR COLUMNS id, kind
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items kind
SET hive.stats.column.autogather=true
ANALYZE TABLE items COMPUTE STATISTICS NOSCAN
DESCRIBE FORMATTED items
-- a text table that is loaded, and one beside the warehouse's tables
CREATE TABLE words (n int, w varchar(20)) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' STORED AS TEXTFILE
INSERT INTO words VALUES (1, 'uno'), (2, 'due'), (3, null)
INSERT OVERWRITE LOCAL DIRECTORY '{d}/words' ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' SELECT n * 100, w FROM words
LOAD DATA LOCAL INPATH '{d}/words' INTO TABLE words
DESCRIBE FORMATTED words
SELECT count(*), max(n) FROM words
ANALYZE TABLE words COMPUTE STATISTICS FOR COLUMNS
SELECT * FROM words ORDER BY n
DESCRIBE FORMATTED words w
SHOW CREATE TABLE words
CREATE EXTERNAL TABLE towns (code char(3), name string, lat float) STORED AS PARQUET LOCATION '{w}/towns'
INSERT INTO towns VALUES ('rom', 'Roma', 41.9), ('osl', 'Oslo', 59.9)
DESCRIBE FORMATTED towns
DESCRIBE FORMATTED towns lat
-- partitions: a text and a number
CREATE TABLE visits (id int, spent double, town char(3)) PARTITIONED BY (country string, y int) STORED AS PARQUET
INSERT INTO visits PARTITION (country, y) VALUES (1, 1.5, 'rom', 'it', 2019), (2, 2.5, 'rom', 'it', 2020), (3, 3.5, 'osl', 'no', 2019), (4, null, 'osl', 'no', 2021), (5, 5.5, null, 'fr', 2020), (6, 6.5, 'par', null, 2020)
SHOW PARTITIONS visits
SHOW PARTITIONS visits PARTITION (country='it')
SHOW PARTITIONS visits WHERE y > 2019
SHOW PARTITIONS visits WHERE country = 'no' OR y = 2020
SHOW PARTITIONS visits WHERE y BETWEEN 2020 AND 2021 AND country != 'it'
SHOW PARTITIONS visits WHERE country IN ('it', 'fr') ORDER BY y DESC LIMIT 2
SHOW PARTITIONS visits ORDER BY y DESC, country LIMIT 4
SHOW PARTITIONS visits LIMIT 2
SHOW PARTITIONS visits WHERE y = 1900
SHOW PARTITIONS visits WHERE country LIKE 'i%'
DESCRIBE FORMATTED visits
DESCRIBE FORMATTED visits PARTITION (country='it', y=2019)
DESCRIBE FORMATTED visits PARTITION (country='it', y=2019) spent
DESCRIBE FORMATTED visits spent
SELECT count(*), max(id) FROM visits
SELECT id FROM visits WHERE country = 'it' ORDER BY id
SELECT id FROM visits WHERE country <> 'it' ORDER BY id
SELECT id FROM visits WHERE y = 2020 ORDER BY id
SELECT id FROM visits WHERE y > 2019 AND country IN ('no', 'fr') ORDER BY id
SELECT id FROM visits WHERE y NOT IN (2019, 2021) ORDER BY id
SELECT id FROM visits WHERE y BETWEEN 2019 AND 2020 AND NOT country = 'it' ORDER BY id
SELECT id FROM visits WHERE country IS NULL ORDER BY id
SELECT id FROM visits WHERE country IS NOT NULL AND spent > 2 ORDER BY id
SELECT id FROM visits WHERE country LIKE '%t' ORDER BY id
SELECT id FROM visits WHERE upper(country) = 'NO' ORDER BY id
SELECT id FROM visits WHERE y + 1 = 2021 ORDER BY id
SELECT id FROM visits WHERE (country = 'it' AND y = 2019) OR (country = 'no' AND y = 2021) ORDER BY id
SELECT id FROM visits WHERE (country, y) IN (('it', 2020), ('no', 2019)) ORDER BY id
SELECT id FROM visits WHERE cast(y AS string) = '2020' ORDER BY id
SELECT id FROM visits WHERE y = '2019' ORDER BY id
SELECT id FROM visits WHERE y > 2019.5 ORDER BY id
SELECT id FROM visits WHERE country = 'it' OR spent > 5 ORDER BY id
EXPLAIN SELECT * FROM visits WHERE country = 'it'
EXPLAIN SELECT * FROM visits WHERE y > 2019 AND spent > 2
EXPLAIN EXTENDED SELECT id FROM visits WHERE y = 2021
SELECT country, y, count(*), sum(spent) FROM visits WHERE y >= 2020 GROUP BY country, y ORDER BY country, y
INSERT INTO visits PARTITION (country='it', y=2019) VALUES (7, 70.0, 'mil')
DESCRIBE FORMATTED visits PARTITION (country='it', y=2019) spent
INSERT OVERWRITE TABLE visits PARTITION (country='no', y=2021) SELECT 8, 8.0, 'ber'
DESCRIBE FORMATTED visits PARTITION (country='no', y=2021) spent
ANALYZE TABLE visits PARTITION (country='it', y) COMPUTE STATISTICS
ANALYZE TABLE visits PARTITION (country='no', y=2019) COMPUTE STATISTICS FOR COLUMNS spent
DESCRIBE FORMATTED visits PARTITION (country='no', y=2019) spent
ANALYZE TABLE visits COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED visits PARTITION (country='fr', y=2020)
DESCRIBE FORMATTED visits PARTITION (country='fr', y=2020) town
EXPLAIN SELECT v.id, t.name FROM visits v JOIN towns t ON v.town = t.code WHERE v.country = 'it'
ALTER TABLE visits PARTITION (country='fr', y=2020) UPDATE STATISTICS FOR COLUMN spent SET ('numDVs'='11', 'numNulls'='1', 'lowValue'='0', 'highValue'='22.5')
DESCRIBE FORMATTED visits PARTITION (country='fr', y=2020) spent
ALTER TABLE visits PARTITION (country='fr', y=2020) UPDATE STATISTICS SET ('numRows'='300')
DESCRIBE FORMATTED visits PARTITION (country='fr', y=2020)
SELECT count(*) FROM visits WHERE country = 'fr'
ALTER TABLE visits ADD PARTITION (country='es', y=2022) PARTITION (country='es', y=2023) LOCATION '{w}/elsewhere'
ALTER TABLE visits ADD IF NOT EXISTS PARTITION (country='es', y=2022)
ALTER TABLE visits PARTITION (country='es', y=2022) RENAME TO PARTITION (country='pt', y=2022)
SHOW PARTITIONS visits
ALTER TABLE visits DROP PARTITION (y < 2020, country = 'no')
ALTER TABLE visits DROP PARTITION (country = 'pt'), PARTITION (y > 2022)
ALTER TABLE visits DROP PARTITION (country = 'xx')
ALTER TABLE visits DROP IF EXISTS PARTITION (country = 'xx')
ALTER TABLE visits DROP PARTITION (country = '__HIVE_DEFAULT_PARTITION__')
SHOW PARTITIONS visits
SELECT count(*) FROM visits
-- partitions of other types
CREATE TABLE days (n int) PARTITIONED BY (d date) STORED AS ORC
INSERT INTO days PARTITION (d) VALUES (1, date '2024-02-29'), (2, date '2023-12-31'), (3, date '2024-03-01')
SELECT n FROM days WHERE d = date '2024-02-29'
SELECT n FROM days WHERE d > '2024-01-01' ORDER BY n
SELECT n FROM days WHERE d BETWEEN date '2023-01-01' AND date '2024-02-29' ORDER BY n
SELECT n FROM days WHERE year(d) = 2024 ORDER BY n
SHOW PARTITIONS days WHERE d < date '2024-03-01'
ALTER TABLE days DROP PARTITION (d >= '2024-03-01')
SHOW PARTITIONS days
CREATE TABLE prices (n int) PARTITIONED BY (p decimal(6,2), f boolean) STORED AS ORC
INSERT INTO prices PARTITION (p, f) VALUES (1, 1.50, true), (2, 10.00, false), (3, -2.25, true)
SHOW PARTITIONS prices
SELECT n FROM prices WHERE p > 1.4 ORDER BY n
SELECT n FROM prices WHERE p = 10 ORDER BY n
SELECT n FROM prices WHERE f ORDER BY n
SELECT n FROM prices WHERE p IN (1.5, -2.25) AND f = true ORDER BY n
ALTER TABLE prices DROP PARTITION (p < 0)
SHOW PARTITIONS prices
CREATE TABLE marks (n int) PARTITIONED BY (c char(4), v varchar(8), t timestamp) STORED AS ORC
INSERT INTO marks PARTITION (c, v, t) VALUES (1, 'a', 'x y', timestamp '2024-01-01 10:00:00'), (2, 'bb', 'x/z', timestamp '2024-01-02 00:00:00.25')
SHOW PARTITIONS marks
SELECT n FROM marks WHERE c = 'a'
SELECT n FROM marks WHERE v > 'x' ORDER BY n
SELECT n FROM marks WHERE v = 'x/z'
SELECT n FROM marks WHERE t >= timestamp '2024-01-02 00:00:00'
-- alters
ALTER TABLE items SET TBLPROPERTIES ('note'='counted', 'comment'='what there is')
ALTER TABLE items ADD COLUMNS (extra string COMMENT 'later')
ALTER TABLE items CHANGE COLUMN label title string COMMENT 'renamed'
DESCRIBE FORMATTED items
DESCRIBE FORMATTED items id
DESCRIBE FORMATTED items title
ALTER TABLE items RENAME TO wares
DESCRIBE FORMATTED wares id
SHOW TABLES
SHOW TBLPROPERTIES wares
ALTER TABLE visits ADD COLUMNS (note string) CASCADE
DESCRIBE FORMATTED visits PARTITION (country='fr', y=2020)
ALTER TABLE visits CHANGE COLUMN id id bigint CASCADE
DESCRIBE FORMATTED visits PARTITION (country='it', y=2020) id
-- views, tables made of others
CREATE VIEW dear AS SELECT id, title FROM wares WHERE cost > 50
SELECT * FROM dear ORDER BY id
DESCRIBE FORMATTED dear
ALTER VIEW dear AS SELECT id FROM wares WHERE cost > 100
SHOW VIEWS
CREATE TABLE taken STORED AS ORC AS SELECT id, title, cost FROM wares WHERE id < 10
DESCRIBE FORMATTED taken
DESCRIBE FORMATTED taken cost
CREATE TABLE alike LIKE visits
DESCRIBE FORMATTED alike
CREATE TABLE alike2 LIKE wares
DESCRIBE FORMATTED alike2
INSERT INTO alike2 (id) VALUES (1)
DESCRIBE FORMATTED alike2
SELECT count(*), max(id) FROM alike2
-- constraints
CREATE TABLE makers (m int, name string NOT NULL DISABLE, PRIMARY KEY (m) DISABLE NOVALIDATE) STORED AS ORC
CREATE TABLE parts (p int, m int, u string UNIQUE DISABLE NOVALIDATE, CONSTRAINT of_maker FOREIGN KEY (m) REFERENCES makers (m) DISABLE NOVALIDATE) STORED AS ORC
DESCRIBE FORMATTED makers
DESCRIBE FORMATTED parts
ALTER TABLE parts DROP CONSTRAINT of_maker
DESCRIBE FORMATTED parts
-- transactions: insert-only, one that fails
CREATE TABLE log1 (i int, s string) STORED AS PARQUET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')
INSERT INTO log1 VALUES (1, 'a'), (2, 'b')
INSERT INTO log1 SELECT assert_true(false), 'never'
INSERT INTO log1 VALUES (3, 'c')
DESCRIBE FORMATTED log1
DESCRIBE FORMATTED log1 i
SELECT count(*), max(i) FROM log1
EXPLAIN SELECT count(*), max(i) FROM log1
SELECT * FROM log1 ORDER BY i
SHOW LOCKS
-- truncation, repair, end
TRUNCATE TABLE wares
DESCRIBE FORMATTED wares
SELECT count(*) FROM wares
TRUNCATE TABLE visits PARTITION (country='no', y=2021)
DESCRIBE FORMATTED visits PARTITION (country='no', y=2021)
dfs -mkdir -p {w}/shop.db/alike/country=se/y=1999
MSCK REPAIR TABLE alike
SHOW PARTITIONS alike
dfs -rm -r -f {w}/shop.db/alike/country=se
MSCK REPAIR TABLE alike SYNC PARTITIONS
SHOW PARTITIONS alike
DROP VIEW dear
DROP TABLE towns
DROP TABLE IF EXISTS nowhere
SELECT * FROM nowhere
DROP DATABASE shop
DROP DATABASE shop CASCADE
SHOW DATABASES LIKE 'sho*'
