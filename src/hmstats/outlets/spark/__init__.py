"""Statistics in the parameters in which Spark keeps them.

spark_properties               the parameters of a table, `spark.sql.statistics.*`
spark_columns, spark_bounds    one column, and its bounds as text
equi_height, spark_histogram   a histogram, and its text
lz4_blocks                     the compression of that text
"""
