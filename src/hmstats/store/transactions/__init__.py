"""Tables of transactions.

transactions   TXNS
write_ids      NEXT_WRITE_ID and TXN_TO_WRITE_ID
locks          HIVE_LOCKS
"""
