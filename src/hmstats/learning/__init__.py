"""What queries of engines teach about statistics: their plans, with the rows expected and the rows that there were.

sources.py     files of engines, by what is in them
skipped.py     what cannot be used
conditions.py  parts of a condition, and the uses of columns in them
spark/         queries in Spark's event logs
trino/         queries that Trino tells of
stored.py      what a metastore has of the tables of queries
learn.py       from queries to who is to blame, recorded in the metastore
"""
