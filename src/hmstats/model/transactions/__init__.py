"""Transactions and locks.

transactions     transactions and the write ids that they take
locks            what locks are asked for on, and which kinds conflict
lock_conflicts   the first component of a request that conflicts with another lock's
"""
