"""Objects of the catalog.

objects                     catalogs, databases, tables, partitions and their storage
names, location             how they are named, and where they lie
wildcards                   how clients look for them
constraints, functions      what else is kept
connectors, named_types     databases of other systems, and Hive's oldest types
privileges                  who may do what
table_formats               tables whose own metadata says which files are theirs
flink_tables                tables that Flink alone reads
refused_tables              tables that no analysis reads
file_changes                changes of directories that go with a change of the catalog
"""
