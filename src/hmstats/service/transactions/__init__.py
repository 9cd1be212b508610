"""Transactions and locks.

transactions   opening, heartbeats and end of transactions; write ids
locks          locks that expire without heartbeats
acid           the transactional tables that the catalog accepts
"""
