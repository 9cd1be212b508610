CREATE DATABASE {s} COMMENT 'a judged one' WITH ('team' = 'one')
SHOW DATABASES
USE {s}
CREATE TABLE orders (id INT, customer STRING, price DECIMAL(12, 2), paid BOOLEAN, d DATE, ts TIMESTAMP(9), weight DOUBLE) WITH ('connector' = 'hive', 'note' = 'one')
DESCRIBE orders
SHOW COLUMNS FROM orders
SHOW CREATE TABLE orders
@exists orders
@parameters orders -
@statistics orders -
SELECT count(*) FROM orders
@put-counts orders - 1000 3 20000 40000
@statistics orders -
@parameters orders -
@put-column orders - id long 1 900 850 0
@put-column orders - customer string 20 7.5 300 4
@put-column orders - price double -10.25 990.5 700 1
@put-column orders - paid boolean 600 390 10
@put-column orders - d date 19000 19700 500 1
@put-column orders - weight double -1.5 99.25 77 2
@statistics orders -
@parameters orders -
@put-column orders - id long -9223372036854775808 9223372036854775807 1000 0
@put-column orders - weight long 1 2 3 4
@put-column orders - nothing long 1 2 3 4
@statistics orders -
EXPLAIN SELECT * FROM orders WHERE id > 450
EXPLAIN ESTIMATED_COST SELECT customer, count(*) FROM orders WHERE id > 450 GROUP BY customer
INSERT INTO orders VALUES (1, 'ann', 10.50, true, DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00', 1.5), (2, 'bob', 20.00, false, DATE '2024-01-02', TIMESTAMP '2024-01-02 11:30:00', 2.5), (3, CAST(NULL AS STRING), 30.00, true, DATE '2024-02-01', CAST(NULL AS TIMESTAMP), 0.25)
SELECT * FROM orders ORDER BY id
@statistics orders -
@parameters orders -
ANALYZE TABLE orders COMPUTE STATISTICS
@statistics orders -
ANALYZE TABLE orders COMPUTE STATISTICS FOR COLUMNS id, customer, price, paid, d, weight
@statistics orders -
@parameters orders -
EXPLAIN ESTIMATED_COST SELECT o.customer, sum(o.price) FROM orders o JOIN orders p ON o.id = p.id WHERE p.paid GROUP BY o.customer
INSERT INTO orders VALUES (4, 'cy', 40.00, true, DATE '2024-03-01', CAST(NULL AS TIMESTAMP), 4.5)
@statistics orders -
@parameters orders -
SELECT count(*), min(id), max(id) FROM orders
INSERT OVERWRITE orders SELECT * FROM orders WHERE id > 2
SELECT id FROM orders ORDER BY id
@statistics orders -
@parameters orders -
ANALYZE TABLE orders COMPUTE STATISTICS FOR ALL COLUMNS
TRUNCATE TABLE orders
@statistics orders -
CREATE TABLE copied WITH ('connector' = 'hive') AS SELECT id, customer FROM orders
SELECT * FROM copied ORDER BY id
@statistics copied -
@parameters copied -
CREATE TABLE alike WITH ('note' = 'two') LIKE orders
SHOW CREATE TABLE alike
@parameters alike -
CREATE TABLE nested (a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, b BYTES, c CHAR(3), v VARCHAR(9), t TINYINT, s SMALLINT, f FLOAT) WITH ('connector' = 'hive')
DESCRIBE nested
INSERT INTO nested VALUES (ARRAY[1, 2], MAP['k', 1], ROW(1, 'y'), X'0102', 'abc', 'vv', CAST(1 AS TINYINT), CAST(2 AS SMALLINT), CAST(1.5 AS FLOAT))
SELECT * FROM nested
ANALYZE TABLE nested COMPUTE STATISTICS FOR COLUMNS b, c, v, t, s, f
@statistics nested -
@parameters nested -
CREATE TABLE sales (id BIGINT, amount DOUBLE, region STRING, y INT) PARTITIONED BY (region, y) WITH ('connector' = 'hive', 'sink.partition-commit.policy.kind' = 'metastore,success-file')
INSERT INTO sales VALUES (1, 1.5, 'eu', 2019), (2, 2.5, 'eu', 2019), (3, 3.5, 'eu', 2020), (4, 4.5, 'us', 2020)
SHOW PARTITIONS sales
SHOW PARTITIONS sales PARTITION (region = 'eu')
@partitions sales -
@partitions sales region=eu
@parameters sales region=eu,y=2019
SELECT * FROM sales WHERE region = 'eu' AND y = 2019 ORDER BY id
SELECT region, y, count(*) FROM sales WHERE y >= 2020 GROUP BY region, y ORDER BY region, y
SELECT count(*) FROM sales WHERE region IN ('us', 'asia') OR y < 2020
SELECT count(*) FROM sales WHERE region LIKE 'e%' AND y BETWEEN 2019 AND 2020
EXPLAIN SELECT * FROM sales WHERE region = 'eu' AND y > 2019
@statistics sales region=eu,y=2019
@statistics sales -
@statistics-of-all sales
INSERT INTO sales VALUES (5, 5.5, 'a b', 1), (6, 6.5, 'a=b', 1), (7, 7.5, '50%', 1), (8, 8.5, CAST(NULL AS STRING), 1), (9, 9.5, 'Ü/x', 1)
SHOW PARTITIONS sales
SELECT region, y, id FROM sales WHERE y = 1 ORDER BY id
SELECT id FROM sales WHERE region = 'a=b'
SELECT id FROM sales WHERE region IS NULL
SELECT id FROM sales WHERE region = '50%' AND y = 1
@statistics sales region=a=b,y=1
CREATE TABLE months (id BIGINT, amount DOUBLE, name STRING, y INT, m INT) PARTITIONED BY (y, m) WITH ('connector' = 'hive')
INSERT INTO months VALUES (1, 1.5, 'a', 2019, 1), (2, 2.5, 'b', 2019, 1), (3, 3.5, CAST(NULL AS STRING), 2019, 2), (4, 4.5, 'dddd', 2020, 1)
@statistics-of-all months
ANALYZE TABLE months PARTITION (y = 2019, m = 1) COMPUTE STATISTICS FOR ALL COLUMNS
@statistics months y=2019,m=1
@statistics months y=2019,m=2
ANALYZE TABLE months PARTITION (y, m) COMPUTE STATISTICS FOR COLUMNS amount, name
@statistics-of-all months
@parameters months y=2020,m=1
@statistics months -
ANALYZE TABLE months PARTITION (y = 2020, m) COMPUTE STATISTICS
@statistics months y=2020,m=1
EXPLAIN ESTIMATED_COST SELECT name, sum(amount) FROM months WHERE y = 2019 GROUP BY name
INSERT INTO months VALUES (5, 5.5, 'e', 2019, 1)
@statistics months y=2019,m=1
@parameters months y=2019,m=1
INSERT OVERWRITE months PARTITION (y = 2019, m = 1) SELECT CAST(7 AS BIGINT), CAST(7.5 AS DOUBLE), 'only'
@statistics months y=2019,m=1
@parameters months y=2019,m=1
@statistics sales region=us,y=2020
@parameters sales region=us,y=2020
@put-counts sales region=us,y=2020 50 1 500 700
@put-column sales region=us,y=2020 id long 4 44 40 0
@statistics sales region=us,y=2020
@parameters sales region=us,y=2020
@put-counts sales region=mars,y=2020 50 1 500 700
@put-column sales region=mars,y=2020 id long 4 44 40 0
@put-counts sales region=us,y=2020 -1 -1 -1 -1
@statistics sales region=us,y=2020
@parameters sales region=us,y=2020
INSERT OVERWRITE sales PARTITION (region = 'us', y = 2021) SELECT id + 10, amount FROM sales WHERE region = 'eu'
ALTER TABLE sales ADD PARTITION (region = 'asia', y = 2022)
ALTER TABLE sales ADD IF NOT EXISTS PARTITION (region = 'asia', y = 2022)
ALTER TABLE sales ADD PARTITION (region = 'asia', y = 2022)
ALTER TABLE sales ADD PARTITION (region = 'away', y = 2022) WITH ('a' = 'b')
@parameters sales region=away,y=2022
@statistics sales region=asia,y=2022
ALTER TABLE sales DROP PARTITION (region = 'eu', y = 2020)
ALTER TABLE sales DROP PARTITION (region = 'eu', y = 2020)
ALTER TABLE sales DROP IF EXISTS PARTITION (region = 'eu', y = 2020)
SHOW PARTITIONS sales
SELECT count(*) FROM sales
@statistics sales -
ALTER TABLE sales RENAME TO sold
@statistics-of-all sold
SELECT count(*) FROM sold
ALTER TABLE orders SET ('note' = 'changed', 'more' = 'x')
ALTER TABLE orders RESET ('more')
ALTER TABLE orders ADD (extra STRING COMMENT 'added')
ALTER TABLE orders MODIFY (extra VARCHAR(10) COMMENT 'changed')
ALTER TABLE orders RENAME extra TO other
ALTER TABLE orders DROP other
ALTER TABLE orders RENAME TO purchases
ALTER TABLE orders RENAME TO nowhere
ALTER TABLE purchases RENAME TO sold
DESCRIBE purchases
@statistics purchases -
@parameters purchases -
SELECT count(*) FROM purchases
CREATE VIEW big AS SELECT id, customer FROM purchases WHERE id > 1
SELECT * FROM big ORDER BY id
SHOW VIEWS
SHOW CREATE VIEW big
@parameters big -
ALTER VIEW big RENAME TO bigger
SHOW TABLES
SHOW TABLES LIKE 's%'
CREATE FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFLength'
SHOW USER FUNCTIONS
CREATE FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFLength'
ALTER FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper'
DROP FUNCTION f
DROP FUNCTION f
CREATE TABLE files (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) COMMENT 'in files' WITH ('connector' = 'filesystem', 'path' = '{w}/files', 'format' = 'csv')
SHOW CREATE TABLE files
@parameters files -
@statistics files -
@exists files
@exists nothing
SELECT * FROM nothing
CREATE TABLE purchases (a INT) WITH ('connector' = 'hive')
DROP TABLE files
DROP VIEW bigger
DROP TABLE nothing
ALTER DATABASE {s} SET ('team' = 'two')
CREATE DATABASE {s}
USE `default`
DROP DATABASE {s}
DROP DATABASE {s} CASCADE
SHOW DATABASES
