"""Preferences: how statistics are made and kept, by everything, database, table, partition and column.

windows      times of the week
values       the names of preferences and what each may say
preference   what is stated, of what
in_force     which of several statements counts
"""
