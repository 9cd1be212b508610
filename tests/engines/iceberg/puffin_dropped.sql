SELECT count(*) FROM ice.{s}.t a JOIN ice.{s}.t b ON a.id = b.id
