"""Spark sessions.

session            Spark for commands; log4j2.properties keeps it quiet
signals            interrupts in programs with a session
classic            sessions with a Java process here, unlike those of Spark Connect
session_settings   the settings of a session that say where statistics go
spark_reasons      Spark's own messages about an error
cores              the number of cores that a job may get, including executors that join later
input_bytes        the bytes that Spark has read of files, by its metrics
cached_tables      tables that a session must look up again
warehouses         compares the session's warehouse with the metastore's
"""
