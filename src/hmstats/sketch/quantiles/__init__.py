"""Quantiles.

kll         the sketch
kll_bytes   its bytes, looked through before the library reads them
"""
