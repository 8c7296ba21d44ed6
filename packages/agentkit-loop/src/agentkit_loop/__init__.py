"""agentkit-loop: the loop of an agent as a pure step function, and its drivers."""
