"""Questions about a table that its stored statistics answer.

asked_table       questions and their answers
partition_names   partitions as people name them
asked_metastore   the calls that a metastore must have for it
"""
