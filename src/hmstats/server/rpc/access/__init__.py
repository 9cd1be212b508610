"""Calls about who may do what.

privileges   roles and privileges
tokens       delegation tokens
"""
