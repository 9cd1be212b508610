"""Distinct counts.

bit_vector                          the bytes of a `bitVectors` field, whichever sketch is in them
hive_hll, hll_bytes, hll_estimate   Hive's HyperLogLog; hll_bias.csv corrects its estimate
vector_block, block_union           many vectors in one block, and unions of any of them
fm                                  the sketch of Hive before 3
theta                               the sketch of Iceberg's Puffin files
"""
