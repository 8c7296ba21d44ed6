"""Vendors as rows of data."""
