"""Refreshes stale statistics automatically, the most useful first, until a budget is spent.

lease     renews the lease of a table while it is analysed
round     runs a round, from its plan to its last run
watching  runs rounds when tables have changed, after a quiet time
"""
