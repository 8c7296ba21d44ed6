from agentkit_core import Timeouts
from agentkit_providers.transport._wait_limits import WaitLimits


def test_vp15_the_whole_call_begins_when_its_key_is_fetched() -> None:
    timeouts = Timeouts(total_s=5.0, first_byte_s=None)

    assert WaitLimits(timeouts, 100.0, 97.0).end() == 102.0
    assert WaitLimits(timeouts, 100.0).end() == 105.0
