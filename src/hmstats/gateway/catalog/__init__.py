"""The upstream's catalog.

kept_answers  answers about tables that are kept while the upstream's log proves them
"""
