"""What a run may want of a person."""

from __future__ import annotations

from enum import StrEnum


class ApprovalKind(StrEnum):
    """What is wanted of the person who is asked."""

    APPROVAL = "approval"
    """A yes or a no."""
    QUESTION = "question"
    """Data that the tool needs."""
    AUTH = "auth"
    """To log in somewhere."""
