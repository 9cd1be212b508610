"""Distinct counts.

bit_vector                          the bytes of a `bitVectors` field, whichever sketch is in them
hive_hll, hll_bytes, hll_estimate   Hive's HyperLogLog; hll_bias.csv corrects its estimate
fm                                  the sketch of Hive before 3
theta                               the sketch of Iceberg's Puffin files
"""
