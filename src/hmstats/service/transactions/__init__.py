"""Locks and transactions."""
