"""Statistics while writing: rows pass the accumulators on their way to the files.

writer         what callers use
settings       whether statistics are gathered, and how
target         what a write will store
situation      the table before and after the write
ways           the two ways to statistics
watched_rows   one of them: rows as they go by
new_files      the other: files after the write
publishers/    where tasks store their states
aggregation    collects the tasks' states
outcome        makes statistics of them
"""
