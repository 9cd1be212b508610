"""Who calls, as far as the server has proven it.

- principal: an authenticated user
- password_line: users with hashes of their passwords
- api_token: tokens by which users prove who they are
"""
