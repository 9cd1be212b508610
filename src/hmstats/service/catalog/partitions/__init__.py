"""Partitions, always read and written as sets.

partitions, expressions                               found and listed
known_partitions                                      what was read of them, in memory
partition_changes, partition_moves, partition_marks   added, altered and dropped; moved; marked
partition_counts                                      counts the files of new partitions
partition_rules                                       shared: table, names, creation and replacement
"""
