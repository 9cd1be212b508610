"""Calls about the metastore itself.

session         who the caller is, and what every Thrift service is asked
configuration   settings, as Hive names them
identity        which metastore this is
notifications   the notification log
"""
