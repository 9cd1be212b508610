"""Arrays as the sketches want them.

column_values, numbers, decimal_doubles, arrow_bytes   present values in one form for each kind
murmur3                                                Hive's hash of them
"""
