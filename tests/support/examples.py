"""How many examples a property draws, and how far other expensive tests go."""

from hypothesis import settings
from hypothesis.errors import InvalidArgument


def examples(count: int) -> settings:
    """Draw so many examples in the usual profile, and in the others in proportion.

    A number given to Hypothesis itself would hold in every profile, in `quick` and `fuzz` as well.
    """
    try:
        usual = settings.get_profile("plain").max_examples
    except InvalidArgument:  # a test file that is run by itself, to write what was agreed
        return settings(max_examples=count)
    current = settings().max_examples
    return settings(max_examples=max(1, count * current // usual))


def thorough(usual: int, most: int) -> int:
    """How many cases of an expensive test are tried: `most` in the profile `fuzz`."""
    fuzz = settings.get_profile("fuzz").max_examples
    return most if settings().max_examples >= fuzz else usual
