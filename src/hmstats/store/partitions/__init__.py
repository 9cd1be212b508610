"""Tables of partitions.

partitions, partition_columns                             PARTITIONS with values, parameters and storage
partition_filters, partition_values                       filters as SQL; values of keys without partitions
partition_moves, partition_events, partition_privileges   moves, marks, privileges
partition_sizes                                           sums of PARTITION_PARAMS
blocks                                                    blocks of neighbours' statistics, and their indexes
vector_blocks, number_blocks, number_block                blocks of bit vectors, blocks of numbers, and one of these
"""
