"""Partitions, values of their keys, and conditions over these.

partitions_by_name             many partitions at once
partition_values, key_values   values compared by what they mean
partition_filter               the filter of a client, as a tree
key_columns                    the filter over all values of a table
filtered_keys                  keys that a filter must not name
partition_expression           the condition of Hive's planner
"""
