"""Calls that pass and change tables of which there are mirrors.

followed_calls  which calls these are, and what they do
following       what becomes of mirrors when such a call passes
"""
