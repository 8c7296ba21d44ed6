"""Drivers: they perform the kernel's effects and feed the answers back to it.

`concurrent` runs on asyncio or trio, `blocking` needs no event loop. Both share one engine and are
imported only where they are used.
"""
