"""Commands about what queries teach.

learn   read what engines say of their queries
blame   whose statistics made estimates wrong
"""
