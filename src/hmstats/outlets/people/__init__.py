"""Statistics for people, in terminals and notebooks.

cells        short texts of counts and columns
flat_table   one Arrow table, a row a column
sources      which programs made numbers, of which version of a table
health       why health is what it is
times        times of the past as people write them
comparison   two statistics side by side
changes      what changed between two times
view         a title, a table and notes, as text or HTML
"""
