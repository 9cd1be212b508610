INSERT INTO {s}.parted PARTITION (k = '100%') SELECT id FROM range(1000, 1040)
ALTER TABLE {s}.plain RENAME TO {s}.moved
INSERT OVERWRITE TABLE {s}.renamed SELECT id, name FROM {s}.moved WHERE id < 20
SELECT count(*) FROM {s}.moved
