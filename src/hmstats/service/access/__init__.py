"""Rules for roles, privileges and tokens. The metastore stores and returns them.

privileges   granted, revoked, listed
roles        made, granted, dropped
tokens       delegation tokens and master keys
api_tokens   tokens by which clients prove who they are
"""
