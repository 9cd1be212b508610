"""Reads of the upstream's catalog: joined, and answered from kept answers.

joined_reads    equal reads that wait at the same time, asked once
prompt_answers  kept answers that the selector's thread sends by itself
kept_answers    answers about tables, kept while the upstream's log proves them current
"""
