"""A run as one HTML page: what is collected of its events, and how each piece is written."""
