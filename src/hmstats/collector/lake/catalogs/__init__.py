"""Iceberg tables of catalogs other than a metastore, by PyIceberg's own configuration.

errors         converts PyIceberg's errors to those of hmstats
columns        converts an Iceberg schema to columns with Hive types
sql_pointer    a SQL catalog's pointer to a table's metadata file
rest_commits   registers statistics at a catalog that writes the metadata itself
named          opens a catalog by its name: its tables, and how each is read and committed to
analysis       analyses such a table in this process
"""
