"""Column statistics of tables and partitions.

reading/            statistics for planners
questions/          answers from stored sketches
spark/              statistics in the parameters that Spark's optimizer reads and writes
writing/            written, merged and deleted statistics
history/            earlier statistics, and how they come back
pending.py          pending statistics
locks.py            locked statistics in writes and deletes
runtime_stats.py    what queries of Hive have counted
running_writes.py   partial states of jobs that write
transactional.py    visibility of transactional tables' statistics
merge.py            written statistics merged into stored ones
details.py          provenance and frequent values beside the numbers
conditions.py       changes that are made only to a table of a version
existing_tables.py  facts of tables that must exist
errors.py           errors for missing tables and statistics
"""
