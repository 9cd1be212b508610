"""Who a client is, proven before its first call.

authentication      the mechanisms that a server accepts, and over which connections
claims              what a request says to prove its user
certificate_users   the user that a client's certificate names
tokens              tokens of hmstats' own
"""
