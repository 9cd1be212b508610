-- a partition that is filled, added empty, and filled then: which answers come from statistics
CREATE DATABASE alters LOCATION '{w}/alters.db'
CREATE DATABASE others LOCATION '{w}/others.db'
USE alters
SET hive.stats.column.autogather=false
CREATE TABLE steps (a int, b int) PARTITIONED BY (c int) STORED AS ORC
DESCRIBE FORMATTED steps
INSERT INTO steps PARTITION (c=1) VALUES (11, 2)
DESCRIBE FORMATTED steps PARTITION (c=1) a
DESCRIBE FORMATTED steps PARTITION (c=1)
EXPLAIN SELECT max(a) FROM steps WHERE c = 1
ANALYZE TABLE steps PARTITION (c=1) COMPUTE STATISTICS FOR COLUMNS a
EXPLAIN SELECT max(a) FROM steps WHERE c = 1
EXPLAIN SELECT max(b) FROM steps WHERE c = 1
INSERT INTO steps PARTITION (c) VALUES (12, 3, 4)
INSERT INTO steps PARTITION (c) VALUES (14, 5, 4)
DESCRIBE FORMATTED steps PARTITION (c=4)
EXPLAIN SELECT max(a) FROM steps WHERE c = 4
ALTER TABLE steps ADD PARTITION (c=100)
DESCRIBE FORMATTED steps PARTITION (c=100)
EXPLAIN SELECT max(a) FROM steps WHERE c = 100
ANALYZE TABLE steps PARTITION (c=100) COMPUTE STATISTICS FOR COLUMNS a
EXPLAIN SELECT max(a) FROM steps WHERE c = 100
DESCRIBE FORMATTED steps PARTITION (c=100)
DESCRIBE FORMATTED steps PARTITION (c=100) a
SELECT max(a), count(*) FROM steps WHERE c = 100
INSERT INTO steps PARTITION (c=100) VALUES (17, 2)
DESCRIBE FORMATTED steps PARTITION (c=100)
SELECT max(a), count(*) FROM steps WHERE c = 100
ANALYZE TABLE steps PARTITION (c=100) COMPUTE STATISTICS FOR COLUMNS a
EXPLAIN SELECT max(a) FROM steps WHERE c = 100
SELECT max(a), count(*) FROM steps WHERE c > 1
-- one column after the other, and rows in between
CREATE TABLE years (y int, m int) STORED AS ORC
INSERT INTO years VALUES (2010, 10), (2011, 11), (2012, 12)
DESCRIBE FORMATTED years
ANALYZE TABLE years COMPUTE STATISTICS
EXPLAIN SELECT count(1) FROM years
EXPLAIN SELECT max(y) FROM years
ANALYZE TABLE years COMPUTE STATISTICS FOR COLUMNS
EXPLAIN SELECT max(y) FROM years
INSERT INTO years VALUES (2015, 15)
DESCRIBE FORMATTED years
EXPLAIN SELECT max(y) FROM years
SELECT max(y), max(m) FROM years
ANALYZE TABLE years COMPUTE STATISTICS FOR COLUMNS y
DESCRIBE FORMATTED years
EXPLAIN SELECT max(y) FROM years
EXPLAIN SELECT max(m) FROM years
ANALYZE TABLE years COMPUTE STATISTICS FOR COLUMNS m
DESCRIBE FORMATTED years
EXPLAIN SELECT max(m) FROM years
-- statistics by hand: of a partition with two keys, and from another database
SET hive.stats.column.autogather=true
CREATE TABLE pairs (k string, v string) PARTITIONED BY (px int, py string) STORED AS ORC
INSERT INTO pairs PARTITION (px=1, py='a') VALUES ('238', 'val_238'), ('', 'val_27'), ('311', null)
ANALYZE TABLE pairs PARTITION (px=1) COMPUTE STATISTICS FOR COLUMNS
DESCRIBE FORMATTED pairs PARTITION (px=1, py='a') k
ALTER TABLE pairs PARTITION (px=1, py='a') UPDATE STATISTICS FOR COLUMN k SET ('numDVs'='30', 'numNulls'='0', 'avgColLen'='1.4', 'maxColLen'='40')
DESCRIBE FORMATTED pairs PARTITION (px=1, py='a') k
DESCRIBE FORMATTED pairs PARTITION (px=1, py='a')
ALTER TABLE pairs PARTITION (px=1, py='a') UPDATE STATISTICS FOR COLUMN k SET ('numDVs'='11', 'numNulls'='1', 'avgColLen'='2.2', 'maxColLen'='3')
DESCRIBE FORMATTED pairs PARTITION (px=1, py='a') k
ALTER TABLE pairs PARTITION (px=1) UPDATE STATISTICS FOR COLUMN k SET ('numDVs'='3')
USE others
ALTER TABLE alters.pairs PARTITION (px=1, py='a') UPDATE STATISTICS FOR COLUMN v SET ('numDVs'='2', 'numNulls'='1', 'avgColLen'='7', 'maxColLen'='50')
DESCRIBE FORMATTED alters.pairs PARTITION (px=1, py='a') v
USE alters
ALTER TABLE pairs PARTITION (px=1, py='a') UPDATE STATISTICS FOR COLUMN px SET ('numDVs'='1')
-- alters that touch no rows
CREATE TABLE calm (k string, v string) STORED AS TEXTFILE
INSERT INTO calm VALUES ('a', 'b'), ('c', 'd')
DESCRIBE FORMATTED calm
ALTER TABLE calm TOUCH
DESCRIBE FORMATTED calm
ALTER TABLE calm RENAME TO quiet
DESCRIBE FORMATTED quiet
ALTER TABLE quiet ADD COLUMNS (late string)
DESCRIBE FORMATTED quiet
ALTER TABLE quiet CHANGE k k string
DESCRIBE FORMATTED quiet
ALTER TABLE quiet CHANGE k k string COMMENT 'the key'
DESCRIBE FORMATTED quiet
ALTER TABLE quiet SET TBLPROPERTIES ('stays'='so')
DESCRIBE FORMATTED quiet
ALTER TABLE quiet UNSET TBLPROPERTIES ('stays')
DESCRIBE FORMATTED quiet
ALTER TABLE quiet SET SERDEPROPERTIES ('field.delim'=',')
DESCRIBE FORMATTED quiet
ALTER TABLE quiet SET OWNER USER somebody
DESCRIBE FORMATTED quiet
ALTER TABLE quiet UPDATE STATISTICS SET ('numRows'='1000')
DESCRIBE FORMATTED quiet
ANALYZE TABLE quiet COMPUTE STATISTICS
DESCRIBE FORMATTED quiet
ALTER TABLE quiet SET FILEFORMAT ORC
DESCRIBE FORMATTED quiet
ALTER TABLE quiet SET LOCATION '{w}/alters.db/nothing_yet'
DESCRIBE FORMATTED quiet
SELECT count(*) FROM quiet
-- alters of a partition that touch no rows
ALTER TABLE pairs TOUCH PARTITION (px=1, py='a')
DESCRIBE FORMATTED pairs PARTITION (px=1, py='a')
ALTER TABLE pairs PARTITION (px=1, py='a') RENAME TO PARTITION (px=2, py='b c')
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c') k
ALTER TABLE pairs PARTITION (px=2, py='b c') ADD COLUMNS (late string)
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
ALTER TABLE pairs PARTITION (px=2, py='b c') CHANGE k k string
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
ALTER TABLE pairs SET TBLPROPERTIES ('stays'='so')
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
ALTER TABLE pairs PARTITION (px=2, py='b c') UPDATE STATISTICS SET ('numRows'='1000')
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
ANALYZE TABLE pairs PARTITION (px=2, py='b c') COMPUTE STATISTICS
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
ALTER TABLE pairs PARTITION (px=2, py='b c') SET FILEFORMAT TEXTFILE
DESCRIBE FORMATTED pairs PARTITION (px=2, py='b c')
-- columns that are replaced, in a table and in partitions, with and without CASCADE, and another database
CREATE TABLE lost (c1 int, c2 string, c3 string) STORED AS ORC
INSERT INTO lost VALUES (1, 'x', 'val3'), (2, 'y', 'val3')
DESCRIBE FORMATTED lost c3
ALTER TABLE lost RENAME TO found
DESCRIBE FORMATTED found
DESCRIBE FORMATTED found c1
CREATE TABLE texts (c1 int, c2 string, c3 string) STORED AS TEXTFILE
INSERT INTO texts VALUES (1, 'x', 'val3'), (2, 'y', 'val3')
ALTER TABLE texts REPLACE COLUMNS (c1 int, c2 string, c4 string)
DESCRIBE FORMATTED texts
DESCRIBE FORMATTED texts c1
DESCRIBE FORMATTED texts c2
DESCRIBE FORMATTED texts c4
ALTER TABLE texts CHANGE c1 c1 string
DESCRIBE FORMATTED texts c1
DESCRIBE FORMATTED texts c2
DESCRIBE FORMATTED texts
ALTER TABLE texts RENAME TO others.texts2
DESCRIBE FORMATTED others.texts2
DESCRIBE FORMATTED others.texts2 c2
SELECT count(*), count(c2) FROM others.texts2
CREATE TABLE shelves (c1 int, c2 string, c3 string) PARTITIONED BY (part string) STORED AS TEXTFILE
INSERT INTO shelves PARTITION (part='part1') VALUES (1, 'x', 'val3'), (2, 'y', 'val3')
INSERT INTO shelves PARTITION (part='part2') VALUES (3, 'z', 'val3')
DESCRIBE FORMATTED shelves PARTITION (part='part1') c1
DESCRIBE FORMATTED shelves PARTITION (part='part2') c3
ALTER TABLE shelves PARTITION (part='part2') RENAME TO PARTITION (part='part3')
DESCRIBE FORMATTED shelves PARTITION (part='part3')
DESCRIBE FORMATTED shelves PARTITION (part='part3') c2
ALTER TABLE shelves REPLACE COLUMNS (c1 int, c2 string, c4 string) CASCADE
DESCRIBE FORMATTED shelves PARTITION (part='part1')
DESCRIBE FORMATTED shelves PARTITION (part='part1') c2
DESCRIBE FORMATTED shelves PARTITION (part='part1') c4
ALTER TABLE shelves CHANGE COLUMN c1 c1 string
DESCRIBE FORMATTED shelves PARTITION (part='part1') c1
ALTER TABLE shelves PARTITION (part) CHANGE COLUMN c1 c1 string
DESCRIBE FORMATTED shelves PARTITION (part='part1') c1
DESCRIBE FORMATTED shelves PARTITION (part='part1') c2
DESCRIBE FORMATTED shelves PARTITION (part='part3') c2
ALTER TABLE shelves RENAME TO others.shelves2
DESCRIBE FORMATTED others.shelves2
DESCRIBE FORMATTED others.shelves2 PARTITION (part='part3') c2
SELECT part, count(*) FROM others.shelves2 GROUP BY part
ALTER TABLE others.shelves2 DROP PARTITION (part='part1')
SHOW PARTITIONS others.shelves2
DESCRIBE FORMATTED others.shelves2 c2
-- names in other letters
CREATE TABLE Letters (Key_ STRING, Val string) PARTITIONED BY (Part1 STRING, pArt2 STRING) STORED AS ORC
INSERT INTO LETTERS PARTITION (part1='p11', Part2='P12') VALUES ('a', 'b')
INSERT INTO letters PARTITION (PART1='p11', part2='p12') VALUES ('c', 'd'), ('e', 'f')
SHOW PARTITIONS letters
ANALYZE TABLE LETTERS PARTITION (part1='p11') COMPUTE STATISTICS FOR COLUMNS KEY_
DESCRIBE FORMATTED letters PARTITION (Part1='p11', PART2='P12') KEY_
DESCRIBE FORMATTED letters PARTITION (part1='p11', part2='p12') key_
ALTER TABLE ALTERS.Letters DROP PARTITION (part1='p11', Part2='P12')
DESCRIBE FORMATTED letters PARTITION (part1='p11', part2='p12') key_
SELECT count(*) FROM letters
DROP TABLE letters
-- the end
DROP DATABASE others CASCADE
DROP DATABASE alters CASCADE
