"""Commands about who may reach a server.

token      tokens by which clients prove who they are
password   a line of a password file
"""
