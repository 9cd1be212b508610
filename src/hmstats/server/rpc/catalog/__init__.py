"""Calls about the catalog.

catalogs, databases, connectors        where tables are
tables, table_queries, table_changes   tables: made and read, found, changed
constraints, functions, named_types    what else is kept
"""
