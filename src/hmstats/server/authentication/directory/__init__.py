"""Passwords that an LDAP directory checks (extra `ldap`).

ldap_directory    the users of a directory: a password is right if the directory takes it
ldap_users        how a name becomes an entry: by a DN, or by a search
ldap_groups       the groups of a user: by memberOf, or by a search
ldap_names        DNs and filters with a place for a name
ldap_connection   a connection over TLS, with a limit of time
"""
