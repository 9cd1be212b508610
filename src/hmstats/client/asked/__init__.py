"""A table to ask without a look at its data.

asked_table       questions and their answers
partition_names   partitions as people name them
asked_metastore   the calls that a metastore must have for it
"""
