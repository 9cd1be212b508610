"""Reads files directly inside Spark's tasks, as Arrow batches in the columns' types.

splits          splits files into tasks of about equal bytes
opening         opens the file of a split, if it still has the listed size
parquet         Parquet files by row group
parquet_types   the types in files that every engine reads as the same values of a column
calendars       dates and timestamps of Parquet that Spark wrote in its old calendar
orc             ORC files by stripe, where Arrow's values are Spark's
orc_footer      ORC's footer: the writer, the stripes and the columns
"""
