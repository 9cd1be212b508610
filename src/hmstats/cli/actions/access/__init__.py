"""What the commands about access do once their arguments are read. A file has the name of its command.

check_access   what the access rules let a user do
token          tokens by which clients prove who they are
password       a line of a password file
audit          recorded calls
durations      times as 90d
"""
