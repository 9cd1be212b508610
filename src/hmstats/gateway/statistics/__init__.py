"""Statistics of the upstream's tables, which are kept here.

statistics_calls         the calls about statistics, and the scope of each
mirroring                has statistics here, as new as the upstream's, before they are answered
presence                 whether statistics are here
proven                   scopes that need not be compared again, by the upstream's notification log
objects_with_statistics  tables and partitions that are asked for with their statistics
parameters               what a write says beside statistics, which is the upstream's
publishing               what a publish of waiting statistics writes
merging                  which columns of a write a Hive would merge
brought                  statistics that new tables and partitions bring along
looking                  tables that nobody asks about are looked at, for their health
adopting                 all old statistics are taken over, before anybody asks
delivery                 when statistics that were written here go to the upstream
sending                  how they go
"""
