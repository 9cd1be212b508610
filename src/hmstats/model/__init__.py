"""The pure model of the metastore's objects, without Thrift, SQL, Spark or Arrow.

Imports nothing of ours but errors. From the bottom:

- catalog/: databases, tables, partitions and the rest of the catalog, with their names
- parameters/: what parameters of tables and partitions say of statistics
- statistics/: column statistics, merged and answered
- health/: health of statistics, and what refreshes them
- feedback/: what queries teach about statistics
- spark/: what Spark stores of a table in its own form
- pending/: pending statistics, and the rules which writes must wait
- partitions/: values of partition keys, and conditions over them
- transactions/: transactions, write ids and locks
- preferences/: how statistics are made and kept
- access/: authenticated users, and what they may do
- events.py: what a change did
- durations.py: a number and a unit in seconds
"""
