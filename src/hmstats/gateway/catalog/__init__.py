"""The upstream's catalog.

joined_reads    equal reads that wait at the same moment
prompt_answers  kept answers that the selector's thread gives
kept_answers    answers about tables that are kept while the upstream's log proves them
"""
