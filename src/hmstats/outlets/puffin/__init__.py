"""Puffin files: the form in which Iceberg keeps sketches of a snapshot's columns.

blob        a blob: its place in the footer, and its bytes
file        a whole file, read and written
snapshot    the file of a snapshot: new theta sketches, and what other engines wrote before
"""
