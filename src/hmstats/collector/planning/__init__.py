"""The plan of an analysis, made before any job starts.

pieces            the units of an analysis: a partition, or a table without partitions
plan              columns with their kinds, pieces with their locations
hive_reads        the tables that Hive reads differently from Spark
data_files        the files of each piece
stream_logs       tables whose files are named in the log of a Spark stream
manifests         files that are named by text files in the location
hadoop_files      files in stores that only Spark's Hadoop has a client for
shared_listings   lists very many places of an object store by their parent directories
fingerprint       a text that changes when the files of a piece do
preferred         completes a request by the table's preferences
locked            leaves out locked parts, and those skipped by preference
unchanged         leaves out pieces whose files have not changed
prepare           the steps above, in order
"""
