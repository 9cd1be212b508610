"""Pending statistics: new numbers that are not in force until a user publishes them.

holding   which writes wait, by the preferences of their table
guard     which numbers jump
pending   pending statistics, and why they wait
canary    clients that plan with pending statistics
"""
