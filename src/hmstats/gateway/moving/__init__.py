"""`hmstats move`: moves a database with its statistics from an upstream to hmstats' own tables, or back.

moving       the steps of a move, which may be killed after any of them
refusals     the objects that prevent a move
comparing    the differences between two places that have the same database
described    a database as the calls of a place return it
"""
