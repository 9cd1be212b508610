"""Refreshes statistics by themselves: what is stale, the best first, until a budget is spent.

lease     renews the lease of a table while it is analysed
round     a round from its plan to its last run
watching  rounds whenever something has changed, after a quiet time
"""
