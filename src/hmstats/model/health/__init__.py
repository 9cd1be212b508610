"""Health of statistics, and the runs that refresh them.

health           the health of a table or a partition, a number from 0 to 100
pages            health as it is listed
runs             runs that refresh statistics, how fast they are, and when a failed table is tried again
refresh_request  the tables to refresh, and the limits of a refresh
plan             the next statistics to refresh, by benefit a second
"""
