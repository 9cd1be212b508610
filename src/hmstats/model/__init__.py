"""The pure model: what the metastore keeps, without Thrift, SQL, Spark or Arrow in it.

Imports nothing of ours but errors.
"""
