"""What the four protocols share: decoding of bodies, encoding of histories, values, errors."""
