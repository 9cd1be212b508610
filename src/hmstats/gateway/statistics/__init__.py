"""Keeps and serves statistics of the upstream's tables.

statistics_calls         the calls about statistics, and the scope of each call
mirroring                updates the statistics here from the upstream before a call is answered
presence                 whether statistics are stored here and current
proven                   scopes that the upstream's notification log proves to be unchanged
objects_with_statistics  answers with tables and partitions together with their statistics
parameters               parameters that a write brings, which are set at the upstream
publishing               the statistics that a publish of pending ones writes
merging                  which columns of a write a Hive would merge
brought                  statistics that new tables and partitions bring along
looking                  compares tables that no client asks about, for their health
adopting                 takes over all old statistics before they are asked for
delivery                 when statistics written here are sent to the upstream
sending                  how they are sent
"""
