"""The version of all packages; each reads it from here when it is built.

The `__version__` in the root module of each package is the same, and a test compares them.
"""

__version__ = "0.1.0"
