"""Keys, passwords and tokens: the type that masks them, and how they are found in what is sent."""
