"""Agents and sessions: what a host holds."""
