"""Who calls, as far as the server has proven it.

- principal: an authenticated user
"""
