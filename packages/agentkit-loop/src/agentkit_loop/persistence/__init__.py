"""What is saved of a session: records, snapshots and their validation."""
