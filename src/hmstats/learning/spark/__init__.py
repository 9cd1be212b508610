"""Queries in Spark's event logs, of Spark 3.5 and 4. In the order in which they are read:

log_files.py       lines of a log: one file or rolled, compressed or not
executions.py      finished executions, each with its last plan and the counts of its metrics
logical_plan.py    the optimizer's plan, from its text
physical_plan.py   the plan that ran, with its metrics
conditions.py      the columns in the text of a condition, and how they are used
queries.py         compares the two plans: estimated and actual rows
"""
