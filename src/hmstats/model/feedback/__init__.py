"""Feedback of queries on statistics: the engine's estimates compared with the actual numbers of rows.

queries        a query as operations, each with its estimate and its rows
misestimates   which operation of a query went wrong by itself, by how much, over which columns
verdicts       whether statistics are missing, stale or wrong, or analysing will not help
records        blame as it is recorded and summed
"""
