"""Authenticated users: how they prove who they are, and what they may do.

- principal: an authenticated user
- password_line: users with hashes of their passwords
- kerberos_names: the users of Kerberos principals, by Hadoop's rules
- api_token: tokens by which users prove who they are
- delegation_token: a token by which others act for a user of Kerberos
- proxy_users: who may act as others
- audit_record: a call, by whom and about what
- actions: what may be done to an object
- rules: rules in order, of which the first that is about a user and an object decides
- rule_file: the rules in a TOML file
- access: what a user may do with an object, and the rules that are about it
"""
