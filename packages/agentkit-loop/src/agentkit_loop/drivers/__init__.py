"""Drivers: they carry out what the kernel asks for and tell it what came of it.

`concurrent` awaits on asyncio or trio, `blocking` needs no event loop. Neither is loaded before
it is used.
"""
