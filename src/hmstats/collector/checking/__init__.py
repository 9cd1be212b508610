"""Whether stored statistics are right: a table's rows, or a sample of them, are read again and compared.

This package looks and says what is wrong; it changes nothing.

run               a check from beginning to end
tasks             what Spark's tasks do
lake              a check of a table by its format's own metadata
groups, seen      what a sample says of all rows, and how sure that is
judge, sketches   stored numbers beside those that were read
wrong, report     what a check found
"""
