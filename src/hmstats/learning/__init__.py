"""Learns about statistics from engines' queries: from their plans, with expected and actual numbers of rows.

sources.py     reads engines' files, whose format is found by their content
skipped.py     counts what cannot be used
conditions.py  the parts of a condition, and the columns that they use
spark/         queries in Spark's event logs
trino/         queries in Trino's EXPLAIN ANALYZE texts and events
stored.py      the metastore's statistics of the queries' tables
learn.py       judges queries, and records the blame in the metastore
"""
