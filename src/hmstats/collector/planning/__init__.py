"""The plan of an analysis, made before any job starts.

pieces            what is analysed one by one: a partition, or a table without partitions
plan              columns with their kinds, pieces with their locations
hive_reads        which tables Hive reads otherwise than Spark
data_files        the files of each piece
stream_logs       tables whose files a stream of Spark's names in a log
manifests         files that text files in the location name
hadoop_files      files in stores that only Spark's Hadoop has a client for
shared_listings   very many places of an object store, listed by the directories above them
fingerprint       a text that changes when the files of a piece do
preferred         what a table's preferences add to a request
locked            leaves out what is locked, or skipped by preference
unchanged         leaves out what was analysed before and has the same files
prepare           the steps above, in order
"""
