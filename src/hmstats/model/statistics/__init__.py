"""Column statistics.

column_types, column_statistics, frequent_values         the kinds of statistics and their fields
provenance, staleness, engine_choice                     who made them, whether they are stale, whose count
merge                                                    statistics of two sets of rows as one
table_statistics, answers                                what is answered of a table, and to questions
python_values                                            dates, whole numbers and Decimals of these answers
history                                                  writes of the past, and what was restored
statistics_locks                                         what is locked, and which lock covers what
runtime_stats                                            what queries of Hive have counted
running_writes                                           partial states of running writes
flat_statistics, statistics_by_field, statistics_group   forms for thousands of statistics at once
"""
