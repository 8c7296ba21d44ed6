"""Agents and sessions, the objects that a host works with."""
