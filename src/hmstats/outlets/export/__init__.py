"""All statistics of a metastore in one file. docs/statistics/export.md has the columns.

rows    the rows of a file
lines   a JSON object a line
file    Parquet or lines, written and read part by part
"""
