"""Tables of who may do what, and of what was done.

privileges, roles   granted by clients
tokens              delegation tokens and master keys of other servers
delegation_tokens   delegation tokens of this one
api_tokens          tokens by which clients prove who they are
audit_records       calls that were recorded
"""
