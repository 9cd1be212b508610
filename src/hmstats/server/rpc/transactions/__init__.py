"""Calls about transactions and locks."""
