"""The pieces of the live view in a terminal; they need rich."""
