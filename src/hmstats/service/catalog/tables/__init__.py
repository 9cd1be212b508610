"""Tables and views.

tables, table_filters                  created, read, found and dropped
alter_table, truncate, emptied         altered and truncated; the parameters of empty tables
file_changes                           directories change along with the catalog, or not at all
constraints, materialized_views        constraints; sources of materialized views
table_rules, columns                   rules for new tables and for changes of columns
basic_statistics, changed_partitions   effects of a change on numbers of files and bytes
altered_statistics                     whether an alter changes statistics only
statistics_locks, locked_statistics    locks on statistics; what changes leave of locked statistics
preferences                            how statistics are made and kept
"""
