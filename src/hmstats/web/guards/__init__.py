"""Checks of every request, and headers of every answer.

traces.py         a span for each, if traces are made
host_names.py     the names by which the page may be reached
origins.py        who may ask for changes
headers.py        what a browser may do with an answer
versions.py       ETag and 304
encoded_paths.py  paths as they were sent
"""
