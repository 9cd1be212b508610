"""Pending statistics: new numbers that wait until somebody publishes or rejects them.

holding   which writes wait, by the preferences of their table
guard     which numbers jump
pending   what waits, and why
canary    which clients plan with what waits
"""
