"""Rules for roles, privileges and tokens. The metastore stores and returns them; nothing here enforces them.

privileges   granted, revoked, listed
roles        made, granted, dropped
tokens       delegation tokens and master keys
"""
