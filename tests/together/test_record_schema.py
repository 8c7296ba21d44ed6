"""The JSON Schema of a record in the docs is that of the types, and every kept record fits it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from together.sources import ROOT

GOLDEN = sorted((ROOT / "tests" / "reporting" / "golden").glob("*.jsonl"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record_schema", ROOT / "docs/record_schema.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_schema_in_the_docs_is_that_of_the_types(script: ModuleType) -> None:
    kept = (ROOT / "docs" / "record.schema.json").read_text(encoding="utf-8")

    assert kept == script.written(), "python docs/record_schema.py --write"


@pytest.mark.parametrize("record", GOLDEN, ids=lambda path: path.stem)
def test_every_line_of_a_kept_record_fits_the_schema(record: Path, script: ModuleType) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    validator: Any = jsonschema_rs.Draft202012Validator(script.schema())
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]

    assert len(lines) > 50
    for number, line in enumerate(lines, start=1):
        assert validator.is_valid(line), (number, [*map(str, validator.iter_errors(line))])
    assert not validator.is_valid({**lines[0], "seq": "1"})
    assert not validator.is_valid({**lines[0], "event": {"type": "turn_finished"}})
