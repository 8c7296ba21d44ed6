"""Which kind of failure an error is, by its code, its message and its HTTP status.

A code counts more than the HTTP status, since the same failure has different statuses: a bad key is
400 at some providers, an empty account 429 at others.

    source                  decided by
    code, type, reason      `_KIND_OF_WORD`, which leaves out words that say little
    message                 patterns: context overflow, billing, content filter, key, model
    status                  `_KIND_OF_STATUS`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentkit_core import FailureKind
from agentkit_providers.failures._context_length import says_context_overflow
from agentkit_providers.failures._error_body import ErrorFacts

_KIND_OF_WORD: Final[Mapping[str, FailureKind]] = {
    word: kind
    for kind, words in {
        # Groq: https://console.groq.com/docs/tool-use and /docs/structured-outputs. Other vendors
        # are known by their messages; Gemini's MALFORMED_FUNCTION_CALL is a finish reason.
        FailureKind.INVALID_ANSWER: "toolusefailed jsonvalidatefailed",
        FailureKind.CONTEXT_LENGTH: (
            "contextlengthexceeded contextwindowexceeded modelcontextwindowexceeded "
            "requesttoolarge exceedcontextsizeerror exceededcontextsizeerror promptistoolong "
            "tokenslimitreached inputtoolong"
        ),
        FailureKind.BILLING: (
            "insufficientquota insufficientbalance insufficientcredits insufficientfunds "
            "insufficientuserquota billinghardlimitreached billingnotactive billingerror "
            "paymentrequired exceededcurrentquotaerror arrearage creditsexhausted "
            "monthlyusagelimitreached"
        ),
        FailureKind.RATE_LIMIT: (
            "ratelimitexceeded ratelimiterror ratelimitreached ratelimited ratelimit "
            "toomanyrequests resourceexhausted throttling throttlingexception "
            "throttlingratequota throttlingallocationquota limitrequests ratelimitreachederror "
            "tokensperminutelimitexceeded requestsperminutelimitexceeded tokensusageexceeded"
        ),
        FailureKind.OVERLOADED: (
            "overloadederror overloaded engineoverloaded engineoverloadederror serveroverloaded "
            "modeloverloaded serviceunavailable serviceunavailableerror unavailable slowdown "
            "capacityexceeded nocapacity modelnotready modelloading insufficientsystemresource"
        ),
        FailureKind.AUTH: (
            "invalidapikey incorrectapikey apikeyinvalid authenticationerror "
            "invalidauthentication invalidauthenticationerror unauthorized unauthenticated "
            "permissionerror permissiondenied permissiondeniederror accessdenied tokenexpired "
            "accessdeniedexception forbidden invalidtoken expiredtoken expiredtokenexception "
            "accesstokenexpired unrecognizedclientexception "
            "accountdeactivated autherror"
        ),
        FailureKind.NOT_FOUND: (
            "modelnotfound notfounderror notfound deploymentnotfound invalidmodel unknownmodel "
            "modelnotexist modelnotavailable resourcenotfound resourcenotfoundexception "
            "modelnotsupported nosuchmodel unknownurl"
        ),
        FailureKind.CONTENT_FILTER: (
            "contentfilter contentpolicyviolation contentpolicy responsibleaipolicyviolation "
            "datainspectionfailed moderationblocked contentmoderation safety prohibitedcontent "
            "contentfiltered sensitive inputmoderation"
        ),
        FailureKind.TIMEOUT: "timeout timeouterror requesttimeout deadlineexceeded gatewaytimeout",
        FailureKind.SERVER: (
            "servererror internalservererror internalerror internal networkerror "
            "internalfailure internalserverexception backenderror upstreamerror"
        ),
    }.items()
    for word in words.split()
}
"""Codes, types and reasons, in lower case and without punctuation. Words that say no more than that
there was an error (`api_error`, `provider_error`) are left out, so that the status decides."""

_KIND_OF_STATUS: Final[Mapping[int, FailureKind]] = {
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    407: FailureKind.AUTH,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    410: FailureKind.NOT_FOUND,
    413: FailureKind.CONTEXT_LENGTH,
    425: FailureKind.OVERLOADED,
    429: FailureKind.RATE_LIMIT,
    451: FailureKind.CONTENT_FILTER,
    498: FailureKind.OVERLOADED,  # Groq: no flex capacity
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    522: FailureKind.TIMEOUT,
    524: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}

_VAGUE: Final = frozenset({FailureKind.SERVER, FailureKind.AUTH})
"""Kinds that some providers name in a code although their message is more precise."""
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_ANSWER_WORDS: Final = re.compile(
    # Groq (agno-agi/agno#4090, laravel/ai#342)
    r"failed to call a function|failed_generation|tool call validation failed"
    r"|failed to (?:generate|validate) json"
    # Ollama (ollama/ollama#12884), llama.cpp's server (vxcontrol/pentagi#313, pwilkin/llama.cpp#5)
    r"|error parsing tool call|failed to parse tool call arguments as json"
    r"|failed to parse input at pos",
    re.IGNORECASE,
)
_KEY_WORDS: Final = re.compile(
    r"(?:incorrect|invalid|missing|no|wrong|expired|valid)\W+(?:api|auth\w*|access)\W*(?:key|token)"
    r"|api key not (?:valid|found)|unauthori[sz]ed",
    re.IGNORECASE,
)
_BILLING_WORDS: Final = re.compile(
    r"insufficient (?:quota|balance|credit|fund)|out of (?:credits?|budget)|credit balance"
    r"|(?:exceeded|check) your (?:current )?(?:quota|plan)|available balance|billing"
    r"|(?:monthly|weekly) (?:usage|spend\w*) limit|requires more credits|payment required"
    r"|quota exceeded",
    re.IGNORECASE,
)
_WAIT_WORDS: Final = re.compile(
    r"rate[- _]?limit|per[- ]?(?:minute|second|hour|day)|too many requests|try again (?:in|later)"
    r"|retry (?:in|after)",
    re.IGNORECASE,
)
_FILTER_WORDS: Final = re.compile(
    r"content (?:management )?(?:policy|filter)|flagged|moderation|safety (?:system|polic)",
    re.IGNORECASE,
)
_MODEL_WORDS: Final = re.compile(
    r"(?:not a valid|invalid|unknown|no such) model"
    r"|model\b[^.]{0,80}?\b(?:does not exist|not found)",
    re.IGNORECASE,
)
_OVERLOADED_WORDS: Final = re.compile(
    r"overloaded|at capacity|temporarily unavailable", re.IGNORECASE
)


def kind_of(facts: ErrorFacts, status: int | None, *, has_wait: bool) -> FailureKind:
    """Decide which kind of failure an error is.

    Args:
        facts: What the error says.
        status: The HTTP status, or the status that the error names; None where there is none.
        has_wait: Whether the provider names a wait.
    """
    message = facts.message
    if status == 413:
        # Some providers add the code of a rate limit, but waiting does not help.
        return FailureKind.CONTEXT_LENGTH
    for word in facts.words:
        kind = _KIND_OF_WORD.get(_NOT_ALPHANUMERIC.sub("", word.lower()))
        if kind is FailureKind.SERVER and status in _KIND_OF_STATUS:
            continue  # the status says more
        if kind is not None:
            return _by_message(message, status) or kind if kind in _VAGUE else kind
    if status == 429 and (has_wait or _WAIT_WORDS.search(message)):
        return FailureKind.RATE_LIMIT
    return _by_message(message, status) or _by_status(status)


def _by_message(message: str, status: int | None) -> FailureKind | None:
    if status != 429 and _ANSWER_WORDS.search(message):
        return FailureKind.INVALID_ANSWER
    if status != 429 and says_context_overflow(message):
        return FailureKind.CONTEXT_LENGTH
    if status in (None, 400, 402, 403, 429) and _BILLING_WORDS.search(message):
        return FailureKind.BILLING
    if status in (None, 400, 403, 422) and _FILTER_WORDS.search(message):
        return FailureKind.CONTENT_FILTER
    if status in (None, 400) and _KEY_WORDS.search(message):
        return FailureKind.AUTH
    if status in (None, 400, 422) and _MODEL_WORDS.search(message):
        return FailureKind.NOT_FOUND
    if status is None and _WAIT_WORDS.search(message):
        return FailureKind.RATE_LIMIT
    if (status is None or status >= 500) and _OVERLOADED_WORDS.search(message):
        return FailureKind.OVERLOADED
    return None


def more_precise_status(status: int | None, named: int | None) -> int | None:
    """Choose between the HTTP status and the status that the error names.

    Gateways answer with a general status, such as 400 or 500, where the error names a precise one.
    """
    if status is None or (status not in _KIND_OF_STATUS and named in _KIND_OF_STATUS):
        return named
    return status


def _by_status(status: int | None) -> FailureKind:
    if status is None:
        return FailureKind.SERVER
    kind = _KIND_OF_STATUS.get(status)
    if kind is not None:
        return kind
    return FailureKind.SERVER if status >= 500 else FailureKind.INVALID_REQUEST
