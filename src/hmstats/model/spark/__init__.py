"""What Spark stores of a table in its own form.

spark_schema       columns that Hive cannot read
spark_statistics   statistics of Spark's optimizer
"""
