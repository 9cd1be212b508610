"""Builds, sends and reads statements.

value_sets, ordering, packed_bytes, database_clock   parts of statements
compiled_statements                                  statements whose text is cached
upserts, queued                                      writes of many rows, which share round trips
copied_rows                                          rows with large binary values
single_read                                          reads of one statement, without a transaction
"""
