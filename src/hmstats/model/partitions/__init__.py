"""Values of partition keys, and conditions over them.

partition_values, key_values   values compared by what they mean
partition_filter               the filter of a client, as a tree
partition_expression           the condition of Hive's planner
"""
