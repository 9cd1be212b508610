"""Tables of privileges, roles, delegation tokens, and api_tokens: tokens by which clients prove who they are."""
