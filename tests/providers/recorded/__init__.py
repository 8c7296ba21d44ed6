"""Recorded answers read a second time, plainly, to compare what our decoders make of them.

Nothing here uses a decoder: the recorded JSON is walked as a whole, with no thought for speed,
cuts or streaming. What a reading cannot know is listed by name in `comparing.UNKNOWN`.
"""
