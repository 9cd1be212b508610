"""Calls about who may do what.

access_checks   what a user may do by the access rules
privileges      roles and privileges
delegation      delegation tokens of this server
tokens          delegation tokens and master keys of other servers
"""
