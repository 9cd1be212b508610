"""The metastore's rules: answers, refusals, and the effect of a change on statistics. Each call is one transaction.

mirrors/           tables whose catalog is another metastore's
catalog/           catalogs, databases, tables, partitions
statistics/        column statistics
health/            health of statistics, kept up to date and listed
access/            roles, privileges, tokens
transactions/      transactions and locks
preparation.py     prepares a database before it is served
notifications.py   the notification log
identity.py        the UUID of this metastore's database
lookups.py         tables as the rules read and lock them
bounded_memory.py  an LRU cache with a limit in bytes
warehouse/         directories of databases and tables, and files in them
"""
