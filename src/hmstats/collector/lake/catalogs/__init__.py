"""Iceberg tables of catalogs other than a metastore, by PyIceberg's own configuration.

errors         what PyIceberg raises, as errors of hmstats
columns        a schema of Iceberg as columns with Hive types
sql_pointer    a SQL catalog's pointer to a table's metadata file
rest_commits   statistics registered by a catalog that writes the metadata itself
named          a catalog by its name: its tables, and how each is read and committed to
analysis       an analysis of such a table, in this process
"""
