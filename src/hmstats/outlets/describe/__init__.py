"""The answers of DESCRIBE.

statement     what a statement asks for
column        the rows of a column
information   the detailed information of a table or a partition
struct        a table or a partition on one line
layout        rows as Hive's command line shows them
"""
