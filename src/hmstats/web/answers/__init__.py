"""Answers of the API, which pages show too: frozen dataclasses, from which JSON and its schema are made.

What is unknown is None, and absent in JSON.

numbers.py     numbers that say how sure they are, and values of columns
tables.py      databases, lists of tables, a table
health.py      tables by health
columns.py     a column's statistics and its picture
asked.py       answers to questions about rows and columns
history.py     versions, what changed, what came back
locks.py       locks on statistics
pending.py     pending statistics, and what they would change
plan.py        the plan of a refresh
feedback.py    what queries have shown to be wrong
access.py      what a user may do, and by which rules
runs.py        runs that refresh statistics
partitions.py  partitions merged into cells
"""
