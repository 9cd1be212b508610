"""Sketches: what is kept of a column's values to count, bound and merge them. Always whole arrays."""
