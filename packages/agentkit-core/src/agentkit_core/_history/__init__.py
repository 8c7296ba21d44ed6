"""The rules of a transcript, and how any history is made valid for a model."""
