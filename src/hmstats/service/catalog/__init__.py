"""Databases, tables and partitions."""
