"""Statistics for planners.

read                                        statistics of tables and partitions
aggregate                                   statistics over many partitions
aggregate_sketches, distinct, extrapolate   distinct counts of aggregates; missing partitions
partition_blocks                            bit vectors of thousands of partitions, from blocks
repair                                      removes values that engines would refuse
sizes, partition_sums                       rows, files and bytes of partitioned tables
"""
