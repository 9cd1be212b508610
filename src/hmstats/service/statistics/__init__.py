"""Column statistics of tables and partitions."""
