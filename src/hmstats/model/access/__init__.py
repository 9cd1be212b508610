"""Who calls, as far as the server has proven it.

- principal: an authenticated user
- api_token: tokens by which users prove who they are
"""
