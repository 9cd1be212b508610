"""Answers from stored sketches.

questions, question_sketches   distinct counts, quantiles, frequent values
column_answers                 the answers about one column, from its merged sketches
merged_columns                 these answers for several columns in one call
whole_statistics               all statistics of a table, with row counts and details
"""
