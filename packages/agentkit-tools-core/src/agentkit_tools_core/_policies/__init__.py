"""Rules that allow, ask or deny: paths, commands, kinds of permission."""
