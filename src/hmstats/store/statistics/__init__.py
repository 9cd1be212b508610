"""Tables of column statistics.

table_facts                             facts about a table that the rules need
column_statistics, statistics_rows      TAB_COL_STATS and PART_COL_STATS, and their rows
statistics_by_name, statistics_groups   reads by a table's name, or packed by columns
aggregates, column_sums, sketches       reads over many partitions
details, provenance, top_k              HMSTATS_COLUMN_PROVENANCE and HMSTATS_TOP_K
past_statistics                         rows of the history as statistics
partial_states, runtime_stats           HMSTATS_PARTIAL_STATE, RUNTIME_STATS
statistics_locks, preferences           HMSTATS_STATISTICS_LOCK, HMSTATS_PREFERENCE
pending                                 HMSTATS_PENDING and HMSTATS_PENDING_COLUMN
statistics_write_ids                    write ids of transactional tables' statistics
"""
