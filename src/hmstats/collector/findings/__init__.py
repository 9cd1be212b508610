"""Findings about pieces whose rows need not be read.

finding         the beginning of each piece's finding, and the table's at the end
without_scan    files, bytes and rows by the files' footers
stored_states   stored statistics as accumulators, to which new rows can be added
"""
