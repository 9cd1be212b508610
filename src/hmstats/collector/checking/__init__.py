"""Checks stored statistics: reads a table's rows, or a sample of them, again and compares.

This package reports wrong statistics; it changes nothing.

run               runs a check from beginning to end
tasks             what Spark's tasks do
lake              a check of a table by its format's own metadata
groups, seen      estimates for all rows from a sample, with their confidence
judge, sketches   compare stored numbers with those that were read
wrong, report     a wrong number, and the report of a check
"""
