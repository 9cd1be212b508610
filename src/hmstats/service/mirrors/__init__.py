"""Tables whose catalog is another metastore's, and whose statistics are here.

A mirror has the rows that any table has, so that all rules of statistics work on it unchanged.

upstream_identity  which metastore's tables a database mirrors
mirrored_tables    mirrors that follow the other metastore's tables and partitions
taken_over         statistics of the other metastore that are newer than ours
claims             claims on mirrors, for the process that sends their statistics
unsent             statistics of ours that the other metastore has not got yet
moved              a database of another metastore becomes one of our own
routes             which metastore has a database that was moved
digests            digests of statistics, and whether two say the same
"""
