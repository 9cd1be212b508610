"""Statistics in table parameters that Spark's optimizer reads and writes.

spark_view         statistics as parameters of an answer
spark_statements   statistics in the parameters of a table that Spark writes
spark_marks        marks of the time of Spark's statistics
"""
