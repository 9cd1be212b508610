"""Commands about locks on statistics.

lock     lock statistics
unlock   remove locks
locked   list locks
"""
