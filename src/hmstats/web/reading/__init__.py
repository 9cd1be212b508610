"""What is asked of the metastore for a page or an answer of the API, by the client alone.

It works on hmstats and on a Hive Metastore: where the calls of hmstats are missing, their answers are unknown.

lists/               tables by name and by health, and runs, by pages
table_facts.py       a table and a page of its columns
column_page.py       one column, with more of it
column_answers.py    distinct counts, quantiles and frequent values, of sketches or by calls
asked.py             rows, distinct values, bounds, quantiles and frequent values of what is asked
column_numbers.py    stored statistics as numbers that say how sure they are
histograms.py        bins of quantiles
selections.py        partitions by a range of names or a filter
past/                histories, diffs, restores
locks.py             locks on statistics
pending.py           statistics that wait
partition_cells.py   partitions merged into cells
partition_order.py   partitions in the order of their keys' values
parts.py             a table or a selection of its partitions
as_of.py             a table as it was at a time
found_columns.py     what is known of columns
counts.py            rows, bytes and files in parameters
moments.py           times from epoch milliseconds and back
cursors.py           opaque texts that say where a page ends
places.py            tables that must exist
"""
