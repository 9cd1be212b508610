"""Tables of formats that keep their schema and their live files in metadata of their own.

formats      which formats are read here, and how each is opened
opened       an opened table: its schema, its files and its rows, whatever its format
delta        Delta Lake's, by delta-rs
delta_files  Delta Lake's data files, by Arrow
delta_log    what the commits of a Delta table added, by the entries of its log
iceberg/     Iceberg's, by PyIceberg, and the Puffin files of their snapshots
sketches     which columns get theta sketches for the table's own metadata
plan         which columns are read, of which version
reading      rows into accumulators and sketches, all or those that were added
catalogs/    Iceberg tables of catalogs other than a metastore
analysis     an analysis of such a table in this process, without Spark
"""
