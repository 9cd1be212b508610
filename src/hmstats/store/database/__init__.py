"""The store: the access of the rules to the database.

store            `read`, a consistent snapshot, and `write`, a transaction
shared_snapshot  a snapshot that several reads share
table_mutex      a mutex for writers of one table in one process
"""
