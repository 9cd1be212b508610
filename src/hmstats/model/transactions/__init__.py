"""Transactions and locks.

transactions   transactions and the write ids that they take
locks          what locks are asked for on, and which conflict
"""
