"""The version of all five packages; each reads it from here when it is built."""

__version__ = "0.1.0"
