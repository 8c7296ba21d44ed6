"""The kernel: a pure step function over a state, its inputs and its effects."""
