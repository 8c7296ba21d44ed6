"""Rules of a transcript: what may be appended, and what a model can be sent."""
