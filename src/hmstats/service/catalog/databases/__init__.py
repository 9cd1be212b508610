"""Catalogs, databases, functions, connectors and types.

catalogs, databases      the namespaces of tables
connectors               databases of other systems
functions, named_types   user-defined functions, named types
"""
