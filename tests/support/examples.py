"""How many examples a property draws."""

from hypothesis import settings


def examples(count: int) -> settings:
    """Draw so many examples in the usual profile, and in the others in proportion.

    A number given to Hypothesis itself would hold in every profile, in `quick` and `fuzz` as well.
    """
    usual = settings.get_profile("plain").max_examples
    current = settings().max_examples
    return settings(max_examples=max(1, count * current // usual))
