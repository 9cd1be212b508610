"""The work of the commands about locks on statistics.

lock     lock and unlock
locked   list locks
"""
