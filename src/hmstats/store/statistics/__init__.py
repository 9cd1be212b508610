"""Tables of column statistics.

table_facts                             facts about a table that the rules need
column_statistics, statistics_rows      TAB_COL_STATS and PART_COL_STATS, and their rows
statistics_by_name, statistics_groups   reads by a table's name, or packed by columns
aggregates, sketches                    reads over many partitions
vector_blocks                           HMSTATS_VECTOR_INDEX and HMSTATS_VECTOR_BLOCK
details, provenance, top_k              HMSTATS_COLUMN_PROVENANCE and HMSTATS_TOP_K
past_statistics                         rows of the history as statistics
partial_states                          HMSTATS_PARTIAL_STATE
statistics_locks, preferences           HMSTATS_STATISTICS_LOCK, HMSTATS_PREFERENCE
statistics_write_ids                    write ids of transactional tables' statistics
"""
