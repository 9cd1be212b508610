"""Sketches and accumulators of a column's values, over whole arrays.

values/       arrays as the sketches want them, and the hash of values
distinct/     distinct counts
quantiles/    quantiles
frequent/     frequent values
merging       a column's sketches of two sets of rows
accumulator   all of them for a column, and for a table's columns
answers       what they answer to questions, with the error of each
state_bytes   accumulators on their way between processes
"""
