"""What all tests share: both event loops, the profiles of properties, where the big files are.

pytest                              the same examples every time: same code, same verdict
pytest --hypothesis-profile fuzz    new examples, many of them
pytest --hypothesis-profile quick   few examples: does an installed package work at all?
"""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

ROOT = Path(__file__).resolve().parent.parent

# No deadline: a shared machine is slow at times, and a slow example breaks no property.
settings.register_profile("plain", deadline=None, derandomize=True, database=None, max_examples=30)
settings.register_profile("quick", settings.get_profile("plain"), max_examples=5)
settings.register_profile(
    "fuzz", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("plain")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through all collected tests again and again."""
    # On its first run, Hypothesis looks for the owner of an object, and misses a frozen one.
    given(none())(lambda _: None)()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop of an async test, which runs once on each."""
    return str(request.param)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project; tests that read sources start here."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded exchanges and prices beside the project; skips where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the recordings in ../shared, which are not part of a clone")
    return folder
