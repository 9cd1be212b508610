"""Statistics while writing: rows pass accumulators on their way to the files.

writer         the entry point: writes DataFrames and gathers statistics
settings       whether statistics are gathered, and how
target         the columns and keys that a write will store
table_state    the table before and after the write
earlier_files  separates files that existed before a write from those that it left
strategies     the two ways to gather statistics
watched_rows   the first one: watches rows while they are written
new_files      the second one: reads new files after the write
touched        the partitions that the second one has to list
turns          turns of writes, and of followed sessions that hear of them
publishers/    where tasks store their states
aggregation    collects the tasks' states
outcome        makes and stores statistics from the states
written_pieces   findings about the partitions that were written
table_itself     the finding about a partitioned table itself
mergeable        stored statistics as states, with which new rows can be merged
following/       gathers after every write of a session, whose jobs need no change
"""
