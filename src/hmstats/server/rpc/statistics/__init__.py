"""Calls about column statistics.

statistics          Hive's calls
brought_statistics  statistics that new tables and partitions bring along
extension           questions to sketches, and statistics with all that is kept of them
arrow_statistics    statistics as Arrow arrays
history             earlier statistics, and how they come back
statistics_locks    locks against writes
preferences         how statistics are made and kept
health, runs        health of statistics, and runs that refresh them
blame               who is to blame for wrong estimates of queries
pending             pending statistics
runtime_stats       what queries of Hive have counted
running_writes      jobs that gather statistics while they write
"""
