"""The rules of roles and privileges. They are kept and told; nothing here enforces them."""
