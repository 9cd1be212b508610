"""Relayed calls that change tables whose statistics are mirrored here.

followed_calls  these calls, and the changes that each makes
following       updates the mirrors when such a call is relayed
"""
