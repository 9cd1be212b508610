"""Calls about partitions.

partitions          found by names, values and filters
partition_queries   found by expressions and specifications, or their values alone
partition_changes   added, altered, dropped
partition_marks     marked for an event
"""
