"""Statistics of every write of a session, without a change of its jobs.

session     what callers use: follows a session until it ends
listener    hears of the session's commands from Spark
commands    what a command wrote, by Spark's plan of it
commits     to which table with a log of its own a command committed
inbox       what is told, until it is gathered
touched     the partitions whose directories have changed since a time
jobs        which files are of which write
gather      stores the statistics of writes to one table
remembered  states of tables as they were gathered last
lake        stores the statistics of commits to one table with a log of its own
"""
