"""Tables of formats with their own metadata, which name the schema and the live files.

formats      the formats that are read here, and how each is opened
opened       an opened table: its schema, its files and its rows, whatever its format
delta        Delta Lake's, by delta-rs
delta_files  Delta Lake's data files, by Arrow
delta_log    the files that commits of a Delta table added, by the entries of its log
iceberg/     Iceberg's, by PyIceberg, and the Puffin files of their snapshots
sketches     chooses the columns with theta sketches in the table's own metadata
plan         the columns and the version to read
reading      reads all rows, or those that were added, into accumulators and sketches
catalogs/    Iceberg tables of catalogs other than a metastore
analysis     analyses such a table in this process, without Spark
"""
