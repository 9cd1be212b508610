"""`hmstats move`: a database with its statistics goes from an upstream to hmstats' own tables, or back.

moving       the steps of a move, each of which may be the last one before a kill
refusals     what cannot be moved
comparing    what two places say of one database, and where they differ
described    a database as a place answers for it
"""
