"""Calls about who may do what.

privileges   roles and privileges
delegation   delegation tokens of this server
tokens       delegation tokens and master keys of other servers
"""
