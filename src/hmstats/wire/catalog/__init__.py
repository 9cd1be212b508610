"""Catalog objects.

objects                  databases, tables, partitions
projection               tables with only the fields that a request names
constraints              keys and conditions of columns
functions, named_types   functions, and Hive's oldest types
connectors               databases of other systems
"""
