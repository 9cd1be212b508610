CREATE DATABASE IF NOT EXISTS shop
CREATE TABLE shop.t USING delta PARTITIONED BY (s) TBLPROPERTIES ('delta.columnMapping.mode'='name') AS SELECT id, CAST(id % 7 AS STRING) s, timestamp_seconds(id) at FROM range(1000)
INSERT INTO shop.t SELECT id, 'x', timestamp_seconds(id) FROM range(1000, 1500)
MERGE INTO shop.t t USING (SELECT id, 'y' s, timestamp_seconds(id) at FROM range(1500, 1600)) u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *
saveAsTable shop.t delta SELECT id, 'z z/%' s, timestamp_seconds(id) at FROM range(1600, 1700)
INSERT INTO shop.t PARTITION (s = 'w') SELECT id, timestamp_seconds(id) FROM range(1700, 1800)
DELETE FROM shop.t WHERE id < 10
INSERT INTO shop.t SELECT id, 'v', timestamp_seconds(id) FROM range(1800, 1900)
