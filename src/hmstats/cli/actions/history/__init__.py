"""The history of statistics on the command line.

history    writes of a table
as_of      statistics of a time
diff       what changed between two times
restore    statistics of a time written again
"""
