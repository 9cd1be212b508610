"""Gathers statistics after every write of a session, whose jobs need no change.

session     the entry point: follows a session until it ends
listener    receives the session's commands from Spark
commands    the writes of a command, from Spark's plan
commits     the commits of a command to tables with a log of their own
inbox       holds writes until their statistics are gathered
touched     the partitions whose directories have changed since a given time
jobs        assigns files to writes
gather      stores the statistics of writes to one table
remembered  the last gathered states of tables
lake        stores the statistics of commits to one table with a log of its own
"""
