"""Queries in two forms of Trino's, in which a plan's nodes have the same names.

explained.py    the text of EXPLAIN ANALYZE
events.py       the event of a finished query (QueryCompletedEvent) as JSON
nodes.py        converts the nodes of both forms to operations
predicates.py   columns in the text of a condition, and how they are used
"""
