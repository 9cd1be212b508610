"""Catalog objects.

objects      databases, tables, partitions
projection   tables with only the fields that a request names
connectors, constraints, functions, named_types
"""
