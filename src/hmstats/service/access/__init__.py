"""Rules for roles, privileges, tokens and audit records. The metastore stores and returns them.

privileges          granted, revoked, listed
roles               made, granted, dropped
tokens              delegation tokens and master keys of other servers
delegation_tokens   delegation tokens of this one
api_tokens          tokens by which clients prove who they are
audit_records       calls that were recorded: added, found, removed when they grow old
"""
