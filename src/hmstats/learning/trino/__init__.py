"""Queries that Trino tells of. Both forms have the plan's nodes by the same names.

explained.py    the text of EXPLAIN ANALYZE
events.py       the event of a finished query (QueryCompletedEvent) as JSON
nodes.py        nodes of either to operations
predicates.py   columns in the text of a condition, and how they are used
"""
