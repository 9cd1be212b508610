CREATE NAMESPACE IF NOT EXISTS ice.shop
CREATE TABLE ice.shop.t USING iceberg TBLPROPERTIES ('format-version'='2', 'write.merge.mode'='merge-on-read') AS SELECT id, CAST(id % 7 AS STRING) s FROM range(1000)
INSERT INTO ice.shop.t SELECT id, 'x' FROM range(1000, 1500)
MERGE INTO ice.shop.t t USING (SELECT id, 'y' s FROM range(1500, 1600)) u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *
UPDATE ice.shop.t SET s = 'z' WHERE id < 10
