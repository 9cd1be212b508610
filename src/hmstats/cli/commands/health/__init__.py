"""Commands about the health of statistics.

health    tables and partitions by health
refresh   analyse what is stale
runs      what was refreshed
"""
