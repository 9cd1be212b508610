"""Commands about the health of statistics.

health   tables and partitions by health
"""
