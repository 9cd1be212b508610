"""Whether stored statistics are right: a table's rows, or a sample of them, are read again and compared.

This package looks and says what is wrong; it changes nothing.
"""
