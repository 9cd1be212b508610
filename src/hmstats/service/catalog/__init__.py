"""Databases, tables and partitions.

databases/       catalogs, databases, functions, connectors and types
partitions/      partitions, as sets
tables/          tables and views
filter_text.py   Hive's filter language; patterns.py has its name patterns
drops.py         the directories of dropped tables and partitions
"""
