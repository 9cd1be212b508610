"""Parameters of tables and partitions about statistics.

row_counts         the number of rows
basic_statistics   rows, files and bytes
accurate           COLUMN_STATS_ACCURATE
computed           parameters that were computed for an answer
parameter_change   a change of some parameters
statistics_keys    which parameters hold statistics
shared_parameters  one object for equal parameters of partitions
"""
