"""Statistics on their way to others.

push   the statistics in a spool folder, sent to the metastore
feed   what changed, sent to a data catalog
"""
