"""Iceberg tables.

source             the newest metadata, and PyIceberg's table of them
reader             the current snapshot's live rows, by PyIceberg
table_metadata     a metadata file as JSON, and the next one with another statistics entry
file_io            PyIceberg's access to files, by the rule for places
table_files        the table's files, read and written by PyIceberg's access
old_timestamps     Parquet's INT96 timestamps, which PyIceberg by itself reads wrong
spark_rows         live rows by Spark, where PyIceberg does not read the table
increments         earlier snapshots to which rows were only added since
file_commits       the next metadata file, and a catalog's pointer to it
registration       writes a Puffin file of a snapshot, and names it in the metadata
puffin_counts      distinct counts that engines have registered, for the metastore
spark_warnings     distinct counts by which Spark's optimizer plans wrong
impala_snapshots   the parameter that names the snapshot of the metastore's statistics
outlet             both of these, for an opened table
"""
