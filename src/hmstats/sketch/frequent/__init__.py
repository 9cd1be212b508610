"""Frequent values.

frequencies   how often the values of an array occur
top_k         the sketch of them
"""
