"""Who calls, as far as the server has proven it, and what they may do.

- principal: an authenticated user
- actions: what may be done to an object
- rules: rules in order, of which the first that is about a user and an object decides
- rule_file: the rules in a TOML file
"""
