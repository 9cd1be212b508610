"""Requests for an analysis, as callers write them.

statement       a statement's text, or a table with columns and partitions
analyze_sql     the text of an ANALYZE statement
partition_spec  values of partition keys as the metastore writes them
"""
