"""Every recorded exchange reads as the vendor's own SDK read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers import corpus


@pytest.mark.parametrize("protocol", sorted(corpus.PROTOCOLS))
def test_every_recorded_exchange_reads_as_the_vendors_sdk_reads_it(
    protocol: str, shared: Path
) -> None:
    report = corpus.check(corpus.exchanges(shared / "wire-corpus" / "dev" / protocol))

    assert report.compared, "nothing was compared"
    assert not report.mismatches, "\n".join(map(str, report.mismatches))
