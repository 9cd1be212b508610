"""Statistics in the forms of others: the model goes in, and comes out as Arrow's, ADBC's or a flat table.

Nothing here asks a server or a database, so that the server, the client and the command line use it alike.
"""
