"""Column statistics.

column_statistics, decimals                                   Hive's structs
extension, preferences, health, runs, history                 structs of hmstats.thrift
running_writes, statistics_locks, pending, blame              more of them
statistics_requests, written_statistics, statistics_layouts   requests straight from their bytes, without thriftpy2
statistics_bytes, statistics_groups                           answers straight to bytes
"""
