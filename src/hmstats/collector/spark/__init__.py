"""Spark sessions.

session            Spark for commands; log4j2.properties keeps it quiet
signals            interrupts of programs with a session
classic            sessions with a Java process here, unlike those of Spark Connect
session_settings   what a session says about where statistics go
spark_reasons      what Spark says about an error
cores              how many cores a job may get, of executors that come later too
input_bytes        what Spark has read of files, by its own metrics
cached_tables      tables that a session must look up again
warehouses         the session's warehouse beside the metastore's
"""
