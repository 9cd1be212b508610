"""Earlier statistics, which only hmstats has.

versions.py  the writes of a table, and how its numbers went
change.py    what changed between two times, and what a restore changes
"""
