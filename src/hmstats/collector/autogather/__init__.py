"""Statistics while writing: rows pass the accumulators on their way to the files.

writer         what callers use
settings       whether statistics are gathered, and how
target         what a write will store
table_state    the table before and after the write
earlier_files  files that were there before the write, told from those that it left
strategies     the two ways to statistics
watched_rows   one of them: rows as they go by
new_files      the other: files after the write
touched        the partitions that the other touched
turns          of a write, and of a followed session that hears of it
publishers/    where tasks store their states
aggregation    collects the tasks' states
outcome        makes statistics of them
written_pieces   of the partitions that were touched
table_itself     of a partitioned table itself
mergeable        of what is stored, so that new rows can be merged
following/       every write of a session, without a change of its jobs
"""
