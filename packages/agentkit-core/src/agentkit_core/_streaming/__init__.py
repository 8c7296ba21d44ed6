"""Answers while they arrive: deltas, the fold into parts, partial JSON."""
