"""What a metastore knows of its tables.

existing            which names must exist
listing             all tables, and which have statistics
describe            DESCRIBE as Hive answers it
stored_statistics   all statistics of a table or its partitions
pending_changes     pending statistics beside those in force
merged_statistics   what the sketches of all partitions say together
"""
