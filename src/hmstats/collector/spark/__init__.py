"""Spark sessions.

session            Spark for commands; log4j2.properties keeps it quiet
session_settings   what a session says about where statistics go
cached_tables      tables that a session must look up again
warehouses         the session's warehouse beside the metastore's
"""
