"""What a metastore knows of its tables.

listing             all tables, and which have statistics
describe            DESCRIBE as Hive answers it
stored_statistics   all statistics of a table or its partitions
merged_statistics   what the sketches of all partitions say together
"""
