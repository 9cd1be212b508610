"""The cache of encoded answers, valid as long as the tables that they were made from have the same version.

cached_answers   whole answers, by the bytes of the question
cached_objects   new questions, put together from what is cached of each column
cached_tables    encoded statistics by table, partition and column
version_source   what tells the selector's thread the versions
recent_changes   what changed of a table between two of its versions
"""
