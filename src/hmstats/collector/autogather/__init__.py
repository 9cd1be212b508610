"""Statistics while writing: rows pass the accumulators on their way to the files.

`settings` says whether and how, `target` what is written, `tee` is what the tasks do, `aggregation` collects what they
found, `outcome` makes statistics of it, `situation` knows what is true of the table; `writer` is what callers use.
"""
