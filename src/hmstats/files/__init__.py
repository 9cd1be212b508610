"""File systems, opened by location, and operations on whole directories. Shared by server, client and collector.

file_systems   Arrow's file systems for Hadoop's locations
azure_stores   their arguments for accounts of Azure
hdfs           HDFS without Java and without Hadoop's libraries
counted_reads  files whose bytes and requests are counted
retries        requests that an object store refuses for a moment
block_file     many small reads as few large ones
making         directories are made, or it is said why not
directories    removed, emptied, copied, renamed
moves          the move of one directory, in steps that a crash may come between
walk           the files below a local directory, links followed once
trash          Hadoop's trash
"""
