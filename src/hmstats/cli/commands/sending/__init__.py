"""Commands that send statistics.

push.py   to the metastore
feed.py   to a data catalog
"""
