"""Arrays as the sketches want them.

column_values, numbers, decimal_doubles, arrow_bytes   present values in one form for each kind
murmur3, murmur3_128, murmur3_steps                    Hive's hash of them, DataSketches', and what both share
iceberg_hashes                                         DataSketches' hash of values in Iceberg's form
"""
