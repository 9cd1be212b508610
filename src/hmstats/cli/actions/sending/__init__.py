"""Statistics on their way to others.

push   what waits in a spool folder, sent to the metastore
feed   what changed, sent to a data catalog
"""
