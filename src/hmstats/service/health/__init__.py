"""Health of statistics.

keeper    judges the tables that the notification log names, and stores their health
listing   tables and partitions by health
runs      runs that refresh statistics, which never do the same
blame     which tables and columns are to blame for wrong estimates of queries
"""
