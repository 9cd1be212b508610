"""Connections to a database.

connections, jdbc, shown_url   URLs and pools
writing_connection             PostgreSQL's driver for writers
traced_cursors                 a span for each statement, while traces are made
bound_values                   checks of values before they are sent
claims                         shared or exclusive write access
presence                       live processes, for changes of files in progress
lost_commits, failures         detection of an older database; classification of errors
"""
