"""Directories of databases and tables.

warehouse      locations and roots; the only place in which directories are made and removed
file_listing   numbers of files and bytes below locations
"""
