"""What a tool is and what it is given: the types that tools, policies and hosts share."""
