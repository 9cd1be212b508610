"""Databases shared with a Hive, which may lack tables or columns that this version has.

present_tables       the tables and columns that a database has
adapted_statements   statements adapted to these tables
healing_upserts      upserts that remove duplicate rows, without a unique index
"""
