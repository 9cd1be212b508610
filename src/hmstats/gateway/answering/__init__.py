"""Calls that are answered from statistics here.

call                a call while it is answered
statistics_answers  calls about statistics, preferences, locks and pending statistics
object_answers      calls for tables and partitions that ask for their statistics, or bring some
"""
