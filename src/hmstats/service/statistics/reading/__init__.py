"""Statistics for planners.

read                                        statistics of tables and partitions
aggregate                                   statistics over many partitions
aggregate_sketches, distinct, extrapolate   distinct counts of aggregates; missing partitions
partition_blocks, block_kind                answers about many partitions from blocks, and the making of blocks
vector_unions, number_sums                  bit vectors from blocks, numbers from blocks
known_blocks, known_ids                     blocks of numbers, and partitions' ids by name, in memory
repair                                      removes values that engines would refuse
sizes, partition_sums                       rows, files and bytes of partitioned tables
"""
