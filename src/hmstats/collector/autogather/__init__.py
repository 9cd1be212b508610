"""Statistics while writing: rows pass the accumulators on their way to the files.

writer        what callers use
settings      whether statistics are gathered, and how
target        what a write will store
situation     the table before and after the write
ways          the two ways: watched_rows as they go by, or new_files after the write
publishers/   where tasks leave what they found
aggregation   collects what the tasks have left
outcome       makes statistics of it
"""
