"""The work of the commands about how statistics are made and kept.

prefs     preferences
pending   pending statistics
"""
