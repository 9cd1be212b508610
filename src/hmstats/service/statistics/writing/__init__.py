"""Writes and deletes statistics.

validate                      refuses invalid statistics
write, write_options          the ordinary way of a write, and its options
holding                       puts writes aside that must wait
plain_writes                  a fast way for plain writes
left_history                  what a plain write leaves in the history
combined_writes               combines writes that wait for one table's lock
last_written, recent_tables   caches of tables that were written last
parameter_changes             parameters written with statistics
events                        events for the notification log
"""
