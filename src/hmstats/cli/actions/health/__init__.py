"""The work of the commands about the health of statistics.

health    list tables and partitions by health
refresh   analyse what is stale
runs      list what was refreshed
"""
