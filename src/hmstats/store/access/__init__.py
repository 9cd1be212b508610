"""Tables of who may do what, and of what was done.

privileges, roles   granted by clients
tokens              delegation tokens and master keys
api_tokens          tokens by which clients prove who they are
audit_records       calls that were recorded
"""
