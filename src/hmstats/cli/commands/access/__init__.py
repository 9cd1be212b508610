"""Commands about who may reach a server, and do what there.

check_access   what the access rules let a user do
token          tokens by which clients prove who they are
password       a line of a password file
audit          recorded calls
"""
