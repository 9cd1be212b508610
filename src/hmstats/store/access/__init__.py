"""Tables of privileges, roles and delegation tokens."""
