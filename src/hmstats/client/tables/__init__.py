"""What a metastore knows of one table.

describe            DESCRIBE as Hive answers it
stored_statistics   all statistics of a table or its partitions
united_statistics   what the sketches of all partitions say together
"""
