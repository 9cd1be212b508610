"""Ways for data to reach the accumulators: `parquet` reads files inside Spark's tasks, `arrow` takes any DataFrame.

Both give the same: for each partition, the state of its accumulators as bytes, in parts that are to be merged.
"""
