"""Reads the answers for pages and the API from a metastore, through the client alone.

It works on hmstats and on a Hive Metastore: where the calls of hmstats are missing, their answers are unknown.

lists/               tables by name and by health, and runs, by pages
table_facts.py       a table and a page of its columns
columns/             columns: statistics, answers and histograms, and questions about them
selections.py        partitions by a range of names or a filter
past/                histories, diffs, restores
locks.py             locks on statistics
plan.py              the plan of a refresh
feedback.py          what queries have shown to be wrong
access.py            what a user may do by access rules
pending.py           pending statistics
partition_cells.py   partitions merged into cells
partition_order.py   partitions in the order of their keys' values
parts.py             a table or a selection of its partitions
as_of.py             a table as it was at a time
counts.py            rows, bytes and files in parameters
moments.py           times from epoch milliseconds and back
cursors.py           opaque texts that mark the end of a page
existing.py          tables and columns that must exist
"""
