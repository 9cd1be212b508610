"""What clients may do, by the access rules.

guard            decides for each call, before it runs
call_rules       what each RPC needs: its action, and where its arguments name objects
needs            how needs are found in arguments
filters          what is left out of lists and structs
rules_in_force   the rule file, read again when it changes
"""
