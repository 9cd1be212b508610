"""Health of statistics, and what refreshes them.

health    from what is known of a table or a partition to a number from 0 to 100
pages     health as it is listed
runs      runs that refresh statistics, how fast they are, and when a failed table is tried again
wanted    which tables to refresh, and within which limits
plan      what to refresh next, by benefit a second
"""
