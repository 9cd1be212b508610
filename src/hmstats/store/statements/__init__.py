"""Builds, sends and reads statements.

value_sets, ordering, packed_bytes, database_clock   parts of statements
compiled_statements                                  statements whose text is cached
upserts, batch                                       writes of many rows; batches in one round trip
single_read                                          reads of one statement, without a transaction
"""
