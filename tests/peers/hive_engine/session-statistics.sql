-- every type, analysed
CREATE DATABASE stats LOCATION '{w}/stats.db'
USE stats
SET hive.stats.column.autogather=false
CREATE TABLE kinds (t tinyint, s smallint, i int, b bigint, f float, d double, n decimal(12,3), o boolean, x string, v varchar(9), c char(5), y binary, dt date, ts timestamp) STORED AS ORC
DESCRIBE FORMATTED kinds
INSERT INTO kinds VALUES (1, -300, 7, 9000000000, 0.5, -1e300, 12345.678, true, 'uno', 'a', 'b', cast('bytes' AS binary), date '1969-12-31', timestamp '1900-01-01 00:00:00'), (-128, 32767, -2147483648, -9223372036854775808, -3.25, 1e-300, -0.001, false, '', 'abcdefghi', '', cast('' AS binary), date '9999-12-31', timestamp '2038-01-19 03:14:08.999'), (null, null, null, null, null, null, null, null, null, null, null, null, null, null)
DESCRIBE FORMATTED kinds i
ANALYZE TABLE kinds COMPUTE STATISTICS
DESCRIBE FORMATTED kinds
DESCRIBE FORMATTED kinds x
ANALYZE TABLE kinds COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED kinds
DESCRIBE FORMATTED kinds t
DESCRIBE FORMATTED kinds s
DESCRIBE FORMATTED kinds i
DESCRIBE FORMATTED kinds b
DESCRIBE FORMATTED kinds f
DESCRIBE FORMATTED kinds d
DESCRIBE FORMATTED kinds n
DESCRIBE FORMATTED kinds o
DESCRIBE FORMATTED kinds x
DESCRIBE FORMATTED kinds v
DESCRIBE FORMATTED kinds c
DESCRIBE FORMATTED kinds y
DESCRIBE FORMATTED kinds dt
DESCRIBE FORMATTED kinds ts
DESCRIBE EXTENDED kinds i
DESCRIBE kinds i
DESCRIBE FORMATTED stats.kinds I
DESCRIBE FORMATTED kinds nowhere
SELECT count(*), count(i), min(i), max(i), min(b), max(b), min(n), max(n), min(d), max(d), min(dt), max(dt) FROM kinds
SELECT min(ts), max(ts), min(f), max(f), min(t), max(s), count(x), count(o) FROM kinds
EXPLAIN SELECT count(*), count(i), min(b), max(dt) FROM kinds
EXPLAIN SELECT * FROM kinds WHERE i = 7 AND x IS NOT NULL
EXPLAIN SELECT o, count(*) FROM kinds GROUP BY o
-- statistics that are no longer exact
INSERT INTO kinds (i, x) VALUES (8, 'due')
DESCRIBE FORMATTED kinds
DESCRIBE FORMATTED kinds i
EXPLAIN SELECT max(i) FROM kinds
ANALYZE TABLE kinds COMPUTE STATISTICS FOR COLUMNS i
DESCRIBE FORMATTED kinds
EXPLAIN SELECT max(i) FROM kinds
EXPLAIN SELECT max(b) FROM kinds
ANALYZE TABLE kinds COMPUTE STATISTICS FOR COLUMNS i, nowhere
ANALYZE TABLE kinds COMPUTE STATISTICS FOR COLUMNS nowhere
ANALYZE TABLE nowhere COMPUTE STATISTICS
ANALYZE TABLE nowhere COMPUTE STATISTICS FOR COLUMNS
-- nothing, nulls, and what is no number
CREATE TABLE bare (i int, x string, d double, o boolean, dt date, n decimal(5,2)) STORED AS ORC
ANALYZE TABLE bare COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED bare
DESCRIBE FORMATTED bare i
DESCRIBE FORMATTED bare x
DESCRIBE FORMATTED bare o
SELECT count(*), max(i), count(x) FROM bare
INSERT INTO bare VALUES (null, null, null, null, null, null), (null, null, null, null, null, null)
ANALYZE TABLE bare COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED bare i
DESCRIBE FORMATTED bare x
DESCRIBE FORMATTED bare d
DESCRIBE FORMATTED bare o
DESCRIBE FORMATTED bare dt
DESCRIBE FORMATTED bare n
SELECT count(*), max(i), count(x), min(dt) FROM bare
EXPLAIN SELECT * FROM bare WHERE i IS NULL
CREATE TABLE floats (d double, f float) STORED AS ORC
INSERT INTO floats SELECT cast('Infinity' AS double), cast('-Infinity' AS float)
INSERT INTO floats VALUES (1.5, 2.5)
ANALYZE TABLE floats COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED floats d
DESCRIBE FORMATTED floats f
INSERT INTO floats SELECT cast('NaN' AS double), 0
ANALYZE TABLE floats COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED floats d
CREATE TABLE nested (a array<int>, m map<string,int>, s struct<x:int>, i int) STORED AS ORC
INSERT INTO nested SELECT array(1, 2), map('a', 1), named_struct('x', 1), 5
ANALYZE TABLE nested COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED nested
DESCRIBE FORMATTED nested i
DESCRIBE FORMATTED nested a
ANALYZE TABLE nested COMPUTE STATISTICS FOR COLUMNS a
-- merged while it is written
SET hive.stats.column.autogather=true
CREATE TABLE merged (i int, b bigint, d double, n decimal(10,2), o boolean, x string, v varchar(20), y binary, dt date, ts timestamp) STORED AS ORC
INSERT INTO merged VALUES (1, 10, 1.5, 1.25, true, 'a', 'vv', cast('q' AS binary), date '2020-01-01', timestamp '2020-01-01 01:02:03')
DESCRIBE FORMATTED merged
DESCRIBE FORMATTED merged y
INSERT INTO merged VALUES (-5, null, 0.5, 100.5, false, 'bbbb', 'vv', cast('qqqq' AS binary), date '2019-06-30', timestamp '2030-01-01 00:00:00'), (2, 11, null, null, null, null, null, null, null, null)
DESCRIBE FORMATTED merged
DESCRIBE FORMATTED merged i
DESCRIBE FORMATTED merged b
DESCRIBE FORMATTED merged d
DESCRIBE FORMATTED merged n
DESCRIBE FORMATTED merged o
DESCRIBE FORMATTED merged x
DESCRIBE FORMATTED merged v
DESCRIBE FORMATTED merged y
DESCRIBE FORMATTED merged dt
DESCRIBE FORMATTED merged ts
INSERT INTO merged SELECT * FROM merged
DESCRIBE FORMATTED merged i
DESCRIBE FORMATTED merged x
INSERT INTO merged SELECT * FROM merged WHERE i > 100
DESCRIBE FORMATTED merged
DESCRIBE FORMATTED merged i
INSERT INTO merged (i) VALUES (77)
DESCRIBE FORMATTED merged i
DESCRIBE FORMATTED merged dt
SELECT count(*), count(b), min(i), max(i), min(dt), max(n) FROM merged
FROM merged INSERT INTO bare SELECT i, x, d, o, dt, n WHERE i > 1 INSERT OVERWRITE TABLE floats SELECT d, d WHERE i < 2
DESCRIBE FORMATTED bare
DESCRIBE FORMATTED bare i
DESCRIBE FORMATTED floats
DESCRIBE FORMATTED floats d
INSERT OVERWRITE TABLE merged SELECT * FROM merged WHERE i > 100
DESCRIBE FORMATTED merged
DESCRIBE FORMATTED merged i
SELECT count(*), max(i) FROM merged
-- a truncated table, written again
TRUNCATE TABLE bare
DESCRIBE FORMATTED bare
SELECT count(*), max(i) FROM bare
INSERT INTO bare VALUES (3, 'c', 0.5, true, date '2021-01-01', 1.5)
DESCRIBE FORMATTED bare
DESCRIBE FORMATTED bare i
DESCRIBE FORMATTED bare dt
-- written by hand
CREATE TABLE told (t tinyint, i int, b bigint, f float, d double, n decimal(10,2), o boolean, x string, v varchar(9), c char(4), y binary, dt date, ts timestamp) STORED AS TEXTFILE
ALTER TABLE told UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='12', 'numNulls'='3', 'lowValue'='-8', 'highValue'='88')
DESCRIBE FORMATTED told i
ALTER TABLE told UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='13', 'numNulls'='0')
DESCRIBE FORMATTED told i
ALTER TABLE told UPDATE STATISTICS FOR COLUMN b SET ('highValue'='9223372036854775807', 'lowValue'='-9223372036854775808', 'numNulls'='1', 'numDVs'='2')
DESCRIBE FORMATTED told b
ALTER TABLE told UPDATE STATISTICS FOR COLUMN t SET ('numDVs'='1', 'numNulls'='0', 'lowValue'='1', 'highValue'='1')
DESCRIBE FORMATTED told t
ALTER TABLE told UPDATE STATISTICS FOR COLUMN f SET ('numDVs'='2', 'numNulls'='1', 'lowValue'='0.1', 'highValue'='7')
DESCRIBE FORMATTED told f
ALTER TABLE told UPDATE STATISTICS FOR COLUMN d SET ('numDVs'='2', 'numNulls'='5', 'lowValue'='-1e10', 'highValue'='3.14')
DESCRIBE FORMATTED told d
ALTER TABLE told UPDATE STATISTICS FOR COLUMN n SET ('numDVs'='2', 'numNulls'='5', 'lowValue'='-3', 'highValue'='1234567.89')
DESCRIBE FORMATTED told n
ALTER TABLE told UPDATE STATISTICS FOR COLUMN o SET ('numTrues'='6', 'numFalses'='7', 'numNulls'='8')
DESCRIBE FORMATTED told o
ALTER TABLE told UPDATE STATISTICS FOR COLUMN x SET ('numDVs'='31', 'numNulls'='7', 'avgColLen'='2.302', 'maxColLen'='5')
DESCRIBE FORMATTED told x
ALTER TABLE told UPDATE STATISTICS FOR COLUMN v SET ('numDVs'='3', 'numNulls'='0', 'avgColLen'='2', 'maxColLen'='9')
DESCRIBE FORMATTED told v
ALTER TABLE told UPDATE STATISTICS FOR COLUMN c SET ('numDVs'='3', 'numNulls'='0', 'avgColLen'='4', 'maxColLen'='4')
DESCRIBE FORMATTED told c
ALTER TABLE told UPDATE STATISTICS FOR COLUMN y SET ('numNulls'='4', 'avgColLen'='100.5', 'maxColLen'='2000')
DESCRIBE FORMATTED told y
ALTER TABLE told UPDATE STATISTICS FOR COLUMN dt SET ('numDVs'='10', 'numNulls'='1', 'lowValue'='1950-05-05', 'highValue'='2050-12-31')
DESCRIBE FORMATTED told dt
ALTER TABLE told UPDATE STATISTICS FOR COLUMN ts SET ('numDVs'='10', 'numNulls'='1', 'lowValue'='2001-01-01 00:00:00', 'highValue'='2002-02-02 02:02:02')
DESCRIBE FORMATTED told ts
ALTER TABLE told UPDATE STATISTICS FOR COLUMN i SET ('avgColLen'='2')
ALTER TABLE told UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='many')
ALTER TABLE told UPDATE STATISTICS FOR COLUMN i SET ('nothing'='1')
ALTER TABLE told UPDATE STATISTICS SET ('numRows'='1000', 'rawDataSize'='123456')
DESCRIBE FORMATTED told
SELECT count(*) FROM told
EXPLAIN SELECT * FROM told WHERE i < 8 AND x = 'a'
INSERT INTO told (i, x) VALUES (1000, 'loooooong')
DESCRIBE FORMATTED told
DESCRIBE FORMATTED told i
DESCRIBE FORMATTED told x
-- partitions
CREATE TABLE parts (i int, x string, d double) PARTITIONED BY (p string, q int) STORED AS ORC
INSERT INTO parts PARTITION (p='a', q=1) VALUES (1, 'one', 0.5), (2, 'two', null)
INSERT INTO parts PARTITION (p='a', q=2) VALUES (30, 'thirty', 3.5)
INSERT INTO parts PARTITION (p, q) SELECT 400, 'dyn', 4.5, 'b', 1 UNION ALL SELECT 401, null, 5.5, 'b', 2 UNION ALL SELECT 402, 'c d', 6.5, 'c d/e', 1
SHOW PARTITIONS parts
DESCRIBE FORMATTED parts
DESCRIBE FORMATTED parts i
DESCRIBE FORMATTED parts p
DESCRIBE FORMATTED parts q
DESCRIBE FORMATTED parts PARTITION (p='a', q=1)
DESCRIBE FORMATTED parts PARTITION (p='a', q=1) i
DESCRIBE FORMATTED parts PARTITION (p='a', q=1) x
DESCRIBE FORMATTED parts PARTITION (p='b', q=2) x
DESCRIBE FORMATTED parts PARTITION (p='c d/e', q=1) d
DESCRIBE FORMATTED parts PARTITION (p='a', q=01) i
DESCRIBE FORMATTED parts PARTITION (p='a') i
DESCRIBE FORMATTED parts PARTITION (p='a', q=9) i
INSERT INTO parts PARTITION (p='a', q=1) VALUES (-1, 'minus', -0.5)
DESCRIBE FORMATTED parts PARTITION (p='a', q=1) i
INSERT INTO parts PARTITION (p, q) SELECT i + 1000, x, d, p, q FROM parts WHERE p = 'b'
DESCRIBE FORMATTED parts PARTITION (p='b', q=1)
DESCRIBE FORMATTED parts PARTITION (p='b', q=1) i
DESCRIBE FORMATTED parts i
SELECT count(*), count(x), min(i), max(i), min(d), max(d) FROM parts
SELECT count(*), max(i) FROM parts WHERE p = 'b'
EXPLAIN SELECT count(*), max(i) FROM parts WHERE p = 'b'
EXPLAIN SELECT * FROM parts WHERE i > 100
SET hive.stats.column.autogather=false
INSERT INTO parts PARTITION (p='z', q=1) VALUES (9, 'nine', 9.0), (10, 'ten', 10.0), (null, null, null)
DESCRIBE FORMATTED parts PARTITION (p='z', q=1)
DESCRIBE FORMATTED parts i
EXPLAIN SELECT * FROM parts WHERE i > 100
EXPLAIN SELECT max(i) FROM parts
EXPLAIN SELECT max(i) FROM parts WHERE p < 'c'
ANALYZE TABLE parts PARTITION (p='z') COMPUTE STATISTICS
ANALYZE TABLE parts PARTITION (p='z', q) COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED parts PARTITION (p='z', q=1) i
ANALYZE TABLE parts PARTITION (p='a', q=1) COMPUTE STATISTICS FOR COLUMNS d, x
DESCRIBE FORMATTED parts PARTITION (p='a', q=1) d
ANALYZE TABLE parts PARTITION (p, q) COMPUTE STATISTICS FOR COLUMNS i
DESCRIBE FORMATTED parts PARTITION (p='c d/e', q=1) i
ANALYZE TABLE parts PARTITION (p='nope') COMPUTE STATISTICS
ANALYZE TABLE parts PARTITION (p='nope') COMPUTE STATISTICS FOR COLUMNS
ANALYZE TABLE parts PARTITION (nokey='a') COMPUTE STATISTICS FOR COLUMNS
ANALYZE TABLE parts COMPUTE STATISTICS FOR COLUMNS p
ANALYZE TABLE parts COMPUTE STATISTICS NOSCAN
ANALYZE TABLE parts COMPUTE STATISTICS
DESCRIBE FORMATTED parts
DESCRIBE FORMATTED parts PARTITION (p='z', q=1)
ALTER TABLE parts PARTITION (p='z', q=1) UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='200', 'numNulls'='9', 'lowValue'='-77', 'highValue'='7777')
DESCRIBE FORMATTED parts PARTITION (p='z', q=1) i
DESCRIBE FORMATTED parts i
ALTER TABLE parts PARTITION (p='z', q=1) UPDATE STATISTICS SET ('numRows'='400')
DESCRIBE FORMATTED parts PARTITION (p='z', q=1)
ALTER TABLE parts PARTITION (p='nope', q=1) UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='1')
ALTER TABLE parts UPDATE STATISTICS FOR COLUMN i SET ('numDVs'='1', 'numNulls'='0')
SELECT count(*), max(i) FROM parts
SET hive.stats.column.autogather=true
TRUNCATE TABLE parts PARTITION (p='a', q=1)
DESCRIBE FORMATTED parts PARTITION (p='a', q=1)
INSERT INTO parts PARTITION (p='a', q=1) VALUES (5, 'five', 5.5)
DESCRIBE FORMATTED parts PARTITION (p='a', q=1) i
INSERT OVERWRITE TABLE parts PARTITION (p='a', q=2) SELECT i, x, d FROM parts WHERE i > 100000
DESCRIBE FORMATTED parts PARTITION (p='a', q=2)
DESCRIBE FORMATTED parts PARTITION (p='a', q=2) i
ALTER TABLE parts DROP PARTITION (p='z', q=1)
ALTER TABLE parts ADD PARTITION (p='z', q=1)
DESCRIBE FORMATTED parts PARTITION (p='z', q=1)
DESCRIBE FORMATTED parts PARTITION (p='z', q=1) i
INSERT INTO parts PARTITION (p='z', q=1) VALUES (6, 'six', 6.5)
DESCRIBE FORMATTED parts PARTITION (p='z', q=1) i
ALTER TABLE parts PARTITION (p='z', q=1) RENAME TO PARTITION (p='y', q=1)
DESCRIBE FORMATTED parts PARTITION (p='y', q=1)
DESCRIBE FORMATTED parts PARTITION (p='y', q=1) i
ALTER TABLE parts PARTITION (p='y', q=1) SET LOCATION '{w}/stats.db/moved'
DESCRIBE FORMATTED parts PARTITION (p='y', q=1)
-- keys that are written in another way, and null
CREATE TABLE months (n int) PARTITIONED BY (m string, d date) STORED AS PARQUET
INSERT INTO months PARTITION (m, d) VALUES (1, '01', date '2024-01-01'), (2, '1', date '2024-01-02'), (3, null, null)
SHOW PARTITIONS months
DESCRIBE FORMATTED months PARTITION (m='01', d='2024-01-01') n
DESCRIBE FORMATTED months PARTITION (m='1', d='2024-01-02') n
ANALYZE TABLE months PARTITION (m='01') COMPUTE STATISTICS FOR COLUMNS n
ANALYZE TABLE months COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED months PARTITION (m='__HIVE_DEFAULT_PARTITION__', d='__HIVE_DEFAULT_PARTITION__') n
DESCRIBE FORMATTED months n
DESCRIBE FORMATTED months d
SELECT count(*), max(n) FROM months WHERE m = '01'
-- alters
ALTER TABLE parts RENAME TO pieces
DESCRIBE FORMATTED pieces PARTITION (p='b', q=1)
DESCRIBE FORMATTED pieces PARTITION (p='b', q=1) i
ALTER TABLE pieces CHANGE COLUMN i j int CASCADE
DESCRIBE FORMATTED pieces PARTITION (p='b', q=1)
DESCRIBE FORMATTED pieces PARTITION (p='b', q=1) j
DESCRIBE FORMATTED pieces PARTITION (p='b', q=1) x
ALTER TABLE pieces REPLACE COLUMNS (j int, x string) CASCADE
ALTER TABLE bare ADD COLUMNS (late int)
DESCRIBE FORMATTED bare late
INSERT INTO bare VALUES (4, 'd', 1.5, false, date '2022-01-01', 2.5, 44)
DESCRIBE FORMATTED bare
DESCRIBE FORMATTED bare late
DESCRIBE FORMATTED bare i
ALTER TABLE bare CHANGE COLUMN i i bigint
DESCRIBE FORMATTED bare i
ALTER TABLE bare SET TBLPROPERTIES ('numRows'='5000')
DESCRIBE FORMATTED bare
SELECT count(*) FROM bare
ALTER TABLE bare SET TBLPROPERTIES ('EXTERNAL'='TRUE')
DESCRIBE FORMATTED bare
SELECT count(*), max(i) FROM bare
-- tables that others write
CREATE EXTERNAL TABLE outside (i int, x string) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE LOCATION '{w}/outside'
DESCRIBE FORMATTED outside
INSERT OVERWRITE LOCAL DIRECTORY '{d}/lines' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT i, x FROM told
LOAD DATA LOCAL INPATH '{d}/lines' INTO TABLE outside
DESCRIBE FORMATTED outside
ANALYZE TABLE outside COMPUTE STATISTICS NOSCAN
DESCRIBE FORMATTED outside
ANALYZE TABLE outside COMPUTE STATISTICS
DESCRIBE FORMATTED outside
ANALYZE TABLE outside COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED outside i
SELECT count(*), max(i) FROM outside
LOAD DATA LOCAL INPATH '{d}/lines' INTO TABLE outside
DESCRIBE FORMATTED outside
DESCRIBE FORMATTED outside i
SELECT count(*), max(i) FROM outside
LOAD DATA LOCAL INPATH '{d}/lines' OVERWRITE INTO TABLE outside
DESCRIBE FORMATTED outside
-- tables made of others, views, temporary tables
CREATE TABLE made STORED AS PARQUET AS SELECT i, x, d FROM merged UNION ALL SELECT 1, 'one', 1.5
DESCRIBE FORMATTED made
DESCRIBE FORMATTED made i
CREATE TABLE none STORED AS ORC AS SELECT i, x FROM made WHERE i < -100
DESCRIBE FORMATTED none
DESCRIBE FORMATTED none i
CREATE TABLE like_made LIKE made
DESCRIBE FORMATTED like_made
DESCRIBE FORMATTED like_made i
CREATE VIEW seen AS SELECT i FROM made
ANALYZE TABLE seen COMPUTE STATISTICS
ANALYZE TABLE seen COMPUTE STATISTICS FOR COLUMNS
CREATE TEMPORARY TABLE passing (i int, x string) STORED AS ORC
INSERT INTO passing VALUES (1, 'a'), (2, 'b')
DESCRIBE FORMATTED passing i
ANALYZE TABLE passing COMPUTE STATISTICS FOR COLUMNS
SELECT count(*), max(i) FROM passing
-- odd names
CREATE TABLE odd (`a b` int, `x.y` string, `select` double) PARTITIONED BY (`the key` string) STORED AS ORC
INSERT INTO odd PARTITION (`the key`='k 1') VALUES (1, 'x', 0.5)
DESCRIBE FORMATTED odd PARTITION (`the key`='k 1') `a b`
ANALYZE TABLE odd COMPUTE STATISTICS FOR COLUMNS `a b`, `select`
DESCRIBE FORMATTED odd PARTITION (`the key`='k 1') `select`
SELECT max(`a b`), count(*) FROM odd
-- histograms
SET hive.stats.kll.enable=true
CREATE TABLE spread (i int, d double) STORED AS ORC
INSERT INTO spread VALUES (1, 0.5), (2, 1.5), (3, 2.5), (100, 50.5)
DESCRIBE FORMATTED spread i
EXPLAIN SELECT * FROM spread WHERE i < 3
INSERT INTO spread VALUES (200, 60.5), (300, 70.5)
DESCRIBE FORMATTED spread i
EXPLAIN SELECT * FROM spread WHERE i < 3
EXPLAIN SELECT * FROM spread WHERE d BETWEEN 1.0 AND 3.0
ANALYZE TABLE spread COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED spread d
SET hive.stats.kll.enable=false
-- transactions
CREATE TABLE log2 (i int, x string) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')
INSERT INTO log2 VALUES (1, 'a'), (2, 'b')
DESCRIBE FORMATTED log2 i
INSERT INTO log2 SELECT assert_true(false), 'never'
SELECT count(*), max(i) FROM log2
INSERT INTO log2 VALUES (30, 'c')
DESCRIBE FORMATTED log2
DESCRIBE FORMATTED log2 i
EXPLAIN SELECT count(*), max(i) FROM log2
ANALYZE TABLE log2 COMPUTE STATISTICS
ANALYZE TABLE log2 COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED log2 x
SELECT count(*), max(i) FROM log2
INSERT OVERWRITE TABLE log2 SELECT 7, 'seven'
DESCRIBE FORMATTED log2 i
SELECT count(*), max(i) FROM log2
CREATE TABLE log3 (i int) PARTITIONED BY (p string) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')
INSERT INTO log3 PARTITION (p) VALUES (1, 'a'), (2, 'a'), (3, 'b')
INSERT INTO log3 PARTITION (p='a') VALUES (40)
DESCRIBE FORMATTED log3 PARTITION (p='a')
DESCRIBE FORMATTED log3 PARTITION (p='a') i
DESCRIBE FORMATTED log3 i
SELECT count(*), max(i) FROM log3
EXPLAIN SELECT count(*), max(i) FROM log3 WHERE p = 'a'
ALTER TABLE log3 DROP PARTITION (p='a')
SELECT count(*), max(i) FROM log3
TRUNCATE TABLE log3
DESCRIBE FORMATTED log3 PARTITION (p='b')
-- the end
DROP TABLE kinds
CREATE TABLE kinds (i int) STORED AS ORC
DESCRIBE FORMATTED kinds i
DROP DATABASE stats CASCADE
