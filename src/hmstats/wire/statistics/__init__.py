"""Column statistics.

column_statistics, decimals                                   Hive's structs
extension, history, running_writes, statistics_locks,
preferences                                                   the structs of hmstats.thrift
statistics_requests, written_statistics, statistics_layouts   requests straight from their bytes, without thriftpy2
statistics_bytes, statistics_groups                           answers straight to bytes
"""
