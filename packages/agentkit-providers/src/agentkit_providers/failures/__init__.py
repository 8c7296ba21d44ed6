"""Failures of providers: their kind, and how long to wait before a retry."""
