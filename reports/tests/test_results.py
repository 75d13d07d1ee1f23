# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from mergewise_report.document import ResultError, parse
from mergewise_report.results import load


def refusal(read, document):
    with pytest.raises(ResultError) as caught:
        read(document)
    return str(caught.value)


def test_a_complete_result_is_read(read, document):
    result = read(document)
    assert [c.strategy for c in result.cases] == ["wfbp", "single", "ddp", "mg_wfbp", "optimal"]
    assert result.cases[0].summary.median_ns == document["cases"][0]["summary"]["median_ns"]
    assert len(result.cases[0].spans) == len(document["cases"][0]["spans"])


@pytest.mark.parametrize("schema", ["mergewise/result/2", "mergewise/profile/1", "", None, 1])
def test_unknown_schemas_are_refused_by_name(read, document, schema):
    document["schema"] = schema
    message = refusal(read, document)
    assert message.startswith("result.json: schema is") and "mergewise/result/1" in message


def _paths(value, path=()):
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from _paths(value[0], (*path, 0))


def _documented(document):
    """Every key of docs/result.md: left out: free-form parts and what may be missing or is not used."""
    optional = ("rank", "clock_error_ns", "times")
    free = ("environment", "config", "profiles", "options", "labels_ns")
    for path in _paths(document):
        inside = any(part in free for part in path[:-1])
        unused = path[-2:] in (("plan", "strategy"), ("plan", "schema"))
        if not inside and not unused and path[-1] not in (0, *optional):
            yield path


def _written(path):
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def test_each_missing_key_is_named_by_its_path(read, document):
    import copy

    small = copy.deepcopy(document)
    small["cases"] = small["cases"][1:2]
    paths = list(_documented(small))
    assert len(paths) > 75
    for path in paths:
        changed = copy.deepcopy(small)
        owner = changed
        for part in path[:-1]:
            owner = owner[part]
        del owner[path[-1]]
        assert refusal(read, changed).startswith(f"result.json: {_written(path)} is missing"), path


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("ranks", "four", 'cases[0].ranks must be a number or null, but is the text "four"'),
        ("ranks", 1.5, "cases[0].ranks must be a whole number or null"),
        ("ranks", True, "cases[0].ranks must be a number or null, but is true"),
        ("verified", "yes", "cases[0].verified must be true or false"),
        ("status", "fine", "cases[0].status is 'fine', which is none of ok, partial"),
        ("strategy", "", "cases[0].strategy must be a text that is not empty"),
        ("summary", [], "cases[0].summary must be an object, but is a list"),
        ("samples_ns", {}, "cases[0].samples_ns must be a list, but is an object"),
        ("samples_ns", ["1"], "cases[0].samples_ns[0] must be a number or null"),
        ("options", 3, "cases[0].options must be an object, but is the number 3"),
    ],
)
def test_wrong_types_are_named_by_their_path(read, document, key, value, expected):
    document["cases"][0][key] = value
    assert expected in refusal(read, document)


def test_spans_name_an_unknown_lane(read, document):
    document["cases"][0]["spans"][0]["lane"] = "disk"
    assert "cases[0].spans[0].lane is 'disk'" in refusal(read, document)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', "nonsense", '{"schema": NaN}', "[1e999"])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ResultError, match="is not valid JSON"):
        parse(text, "result.json")


def test_a_syntax_error_is_placed():
    with pytest.raises(ResultError, match=r"^result\.json:2:8: is not valid JSON"):
        parse('{"a": 1,\n  "b": x}', "result.json")


def test_numbers_beyond_a_double_are_refused(node):
    root = parse('{"a": 1e999}', "result.json")
    with pytest.raises(ResultError, match="a is too large a number"):
        root["a"].number()
    with pytest.raises(ResultError, match="is too large a number"):
        node(10**400).number()


def test_deep_nesting_is_refused():
    with pytest.raises(ResultError, match="nested too deeply"):
        parse("[" * 200_000, "result.json")


@pytest.mark.parametrize("text", ["[]", "null", "3", '"text"'])
def test_documents_that_are_no_object_are_refused(text, read):
    with pytest.raises(ResultError, match="the document must be an object"):
        read(json.loads(text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ResultError, match=r"none\.json: cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    file = tmp_path / "result.json"
    file.write_bytes(b"\xff\xfe{")
    with pytest.raises(ResultError, match="not UTF-8"):
        load(file)


def test_characters_that_no_page_can_show_are_replaced(read, document):
    document["name"] = "a\x00b\x1b\ud800c"
    assert read(document).name == "a\ufffdb\ufffd\ufffdc"
