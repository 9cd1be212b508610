"""The work of the commands about preferences and pending statistics.

prefs     preferences
pending   pending statistics
"""
