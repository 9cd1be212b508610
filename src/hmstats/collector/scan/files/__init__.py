"""Files that are read directly inside Spark's tasks, as Arrow batches in the columns' types.

splits          files cut into tasks of about equal bytes
opening         the file of a split, if it is as it was listed
parquet         Parquet files by row group
parquet_types   types of files whose values are those of a column for every engine
calendars       dates and timestamps of Parquet that Spark wrote in its old calendar
orc             ORC files by stripe, where Arrow's values are Spark's
orc_footer      what ORC's footer says of the writer and the stripes
"""
