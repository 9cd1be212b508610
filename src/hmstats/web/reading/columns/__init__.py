"""Reads what is known of columns, and answers questions about them.

asked.py           rows, distinct values, bounds, quantiles and frequent values of what is asked
column_page.py     one column, with more of it
found_columns.py   what is known of columns
column_answers.py  distinct counts, quantiles and frequent values, of sketches or by calls
column_numbers.py  stored statistics as numbers that say how sure they are
histograms.py      bins of quantiles
"""
