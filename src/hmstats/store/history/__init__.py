"""The history of statistics: what each write replaces, and what there was at a time.

caller          who runs the call that writes
replaced_rows   the statements that copy rows about to be replaced
before_writes   the hooks of the write path
stored_values   what a plain write stored, as a text in its step
steps           the steps of writes in the database, and how long they are kept
replay          the statistics before steps that copied nothing
file_sizes      sizes of files without what restores have put back
past_state      statistics and parameters as of a time
restored_rows   rows of the past that are written again
purge           removes what is too old, and thins what is old
"""
