"""Tables of the catalog. Each entity has a file.

catalogs, databases, roots, connectors, functions, named_types   CTLGS, DBS, DATACONNECTORS, FUNCS, TYPES
tables, single_table, table_filters                              TBLS
constraints, constraint_columns, materialized_views              KEY_CONSTRAINTS, MV_CREATION_METADATA
partition_locks                                                  locks partitions together with their table
metastore_properties                                             METASTORE_DB_PROPERTIES
"""
