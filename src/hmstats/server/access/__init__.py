"""Applies the access rules to clients' calls.

guard            decides about each call before it runs
call_rules       the needs of each RPC: its action, and the arguments that name objects
needs            finds needs in arguments
filters          removes what a user may not see from answers
rules_in_force   the rule file, read again when it changes
"""
