"""What the four protocols share: SSE, body decoding, lenient values, schema dialects."""
