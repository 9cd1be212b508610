"""Commands about the history of statistics.

history   writes of a table
diff      what changed between two times
restore   statistics of a time written again
"""
