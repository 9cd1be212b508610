"""Queries in Spark's event logs, of Spark 3.5 and 4. In the order in which they are read:

log_files.py       lines of a log: one file or rolled, compressed or not
executions.py      events to finished executions, each with its last plan and what its metrics counted
logical_plan.py    the optimizer's plan, from its text
physical_plan.py   the plan that ran, with its metrics
conditions.py      columns in the text of a condition, and how they are used
queries.py         the two plans side by side: estimates beside rows
"""
