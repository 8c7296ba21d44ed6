"""Typed functions and JSON Schemas as tools: signatures, docstrings, arguments."""
