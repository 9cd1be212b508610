"""The history of statistics: what there was at a time, and how it comes back.

history    writes of a table, and its statistics as of a time
restore    statistics of a time written again
upkeep     what is kept for how long
"""
