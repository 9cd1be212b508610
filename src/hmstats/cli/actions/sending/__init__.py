"""Sends statistics to a metastore or to a data catalog.

push   the statistics in a spool folder, sent to the metastore
feed   what changed, sent to a data catalog
"""
