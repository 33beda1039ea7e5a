"""The decoder: types in, values out, every problem at once."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

import pytest
import yaml
from jsonschema import Draft202012Validator

from mqvitals_config.decoding import node
from mqvitals_config.decoding.decoder import Convert, decode, decode_located, decode_word
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.decoding.scalars import DURATION_FORM, parse_duration
from mqvitals_config.decoding.schema import ByType, Doc, SecretFile, json_schema, settings_of


class Level(IntEnum):
    """Written by its names."""

    LOW = 1
    HIGH = 2


class Colour(Enum):
    """Written by its values."""

    RED = "red light"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Hold:
    """A mapping of its own."""

    polls: int = 1
    duration: Annotated[int, Convert(parse_duration, DURATION_FORM, raw=True)] | None = field(
        default=None, metadata={"key": "for"}
    )

    def __post_init__(self) -> None:
        if self.polls < 1:
            raise ValueError("polls must be at least 1")


def even(number: int) -> int:
    """A converter that only checks."""
    if number % 2:
        raise ValueError("must be even")
    return number


@dataclass(frozen=True, slots=True)
class Everything:
    """One field of every kind."""

    text: str = ""
    located: LocatedText | None = None
    whole: int = 0
    number: float = 0.0
    truth: bool = False
    level: Level = Level.LOW
    colour: Colour = Colour.RED
    word: Literal["on", "off", 3] = "on"
    duration: Annotated[int, Convert(parse_duration, DURATION_FORM)] = 0
    checked: Annotated[int, even] = 0
    hold: int | Hold = 1
    mixed: int | bool | str | None = None
    names: tuple[str, ...] = ()
    listed: list[int] = field(default_factory=list)
    mapped: Mapping[str, float] = field(default_factory=dict)
    levels: dict[Level, tuple[Hold, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Needy:
    """Two keys that must be there."""

    first: str
    second: int


def problems(text: str, shape: type[Any] = Everything) -> list[str]:
    """Every problem of a text as a sentence."""
    with pytest.raises(ConfigError) as raised:
        decode("x.yaml", text, shape)
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("text: abc def", "text", "abc def"),
        ("text: 'no'", "text", "no"),
        ('text: "12:30"', "text", "12:30"),
        ("text: =", "text", "="),
        ("text: <<", "text", "<<"),
        ("text: ''", "text", ""),
        ("text: |\n  a\n  b\n", "text", "a\nb\n"),
        ("text: 1e3", "text", "1e3"),
        ("located: abc", "located", "abc"),
        ("located:", "located", None),
        ("located: ~", "located", None),
        ("whole: -17", "whole", -17),
        ("whole: +17", "whole", 17),
        ("whole: 0", "whole", 0),
        ("number: 3", "number", 3.0),
        ("number: 2.5", "number", 2.5),
        ("number: 1e3", "number", 1000.0),
        ("number: 1.5E-2", "number", 0.015),
        ("truth: true", "truth", True),
        ("truth: No", "truth", False),
        ("truth: ON", "truth", True),
        ("level: high", "level", Level.HIGH),
        ("colour: red light", "colour", Colour.RED),
        ("colour: off", "colour", Colour.OFF),
        ("word: off", "word", "off"),
        ("word: 3", "word", 3),
        ("duration: 5m", "duration", 300_000),
        ("checked: 4", "checked", 4),
        ("hold: 2", "hold", 2),
        ("hold: {polls: 2, for: 5m}", "hold", Hold(2, 300_000)),
        ("hold: {for: 1h30m}", "hold", Hold(1, 5_400_000)),
        ("mixed: 2", "mixed", 2),
        ("mixed: yes", "mixed", True),
        ("mixed: abc", "mixed", "abc"),
        ("mixed:", "mixed", None),
        ("names: [a, 'b', c d]", "names", ("a", "b", "c d")),
        ("names:", "names", ()),
        ("listed: [1, 2]", "listed", [1, 2]),
        ("mapped: {a: 1, 'no': 2.5}", "mapped", {"a": 1.0, "no": 2.5}),
        ("mapped:", "mapped", {}),
        ("levels: {high: [{polls: 3}], low: }", "levels", {Level.HIGH: (Hold(3),), Level.LOW: ()}),
    ],
)
def test_values(text: str, name: str, value: object) -> None:
    """Every kind of type takes what it should, and gives a value of that type."""
    decoded = getattr(decode("x.yaml", text, Everything), name)
    assert decoded == value
    assert type(decoded) is type(value) or isinstance(decoded, LocatedText)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n", "\ufeff", "{}", "~"])
def test_an_empty_file_has_defaults(text: str) -> None:
    """A file without settings is one in which everything has its default."""
    assert decode("x.yaml", text, Everything) == Everything()


def test_an_empty_file_that_must_hold_something() -> None:
    """Where keys are required the sentence says that the file is empty, and what it must hold."""
    assert problems("# nothing\n", Needy) == ["x.yaml: the file is empty; it must hold first and second"]
    assert problems("{}", Needy) == [
        "x.yaml:1:1: first: this key is missing",
        "x.yaml:1:1: second: this key is missing",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("text: no", "1:7: text: expected a string, got the boolean no; quote it"),
        ("text: 014", "1:7: text: expected a string, got the number 014 (YAML reads 12); quote it"),
        ("text: 12:30:45", "1:7: text: expected a string, got the number 12:30:45 (YAML reads 45045); quote it"),
        ("text: -1:30", "1:7: text: expected a string, got the number -1:30 (YAML reads -90); quote it"),
        ("text:", "1:6: text: expected a string, got nothing"),
        ("text: {a: b}", "1:7: text: expected a string, got a mapping"),
        ("whole: 1.5", "1:8: whole: expected a whole number, got the number 1.5"),
        ("whole: 1e3", "1:8: whole: expected a whole number, got the string '1e3'"),
        (
            "whole: 014",
            "1:8: whole: expected a whole number, got the number 014 (YAML reads 12); write it in plain decimal digits",
        ),
        ("whole: 0x1F", "1:8: whole: expected a whole number, got the number 0x1F; write it in plain decimal digits"),
        ("whole: '5'", "1:8: whole: expected a whole number, got the string '5'; remove the quotes"),
        ("whole: yes", "1:8: whole: expected a whole number, got the boolean yes"),
        (
            f"whole: {'9' * 5000}",
            f"1:8: whole: expected a whole number, got the number {'9' * 59}…; write it in plain decimal digits",
        ),
        (
            "number: .inf",
            "1:9: number: expected a number, got the number .inf; it must be finite, in plain decimal digits",
        ),
        ("number: 1e999", "1:9: number: this number is too large"),
        ("truth: 1", "1:8: truth: expected true or false, got the number 1"),
        ("truth: 'yes'", "1:8: truth: expected true or false, got the string 'yes'"),
        ("level: hihg", "1:8: level: 'hihg' is not one of low and high; did you mean 'high'?"),
        ("level: 2", "1:8: level: '2' is not one of low and high"),
        ("level: [high]", "1:8: level: expected one of low or high, got a list"),
        ("colour: RED", "1:9: colour: 'RED' is not one of red light and off"),
        ("word: 4", "1:7: word: '4' is not one of on, off and 3"),
        (
            "duration: 5",
            "1:11: duration: expected a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m, got the number 5; quote it",
        ),
        ("duration: 5 minutes", "1:11: duration: expected a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m"),
        ("hold: {for: 5}", "1:13: hold.for: a duration needs a unit: 5s, 5m or 5h"),
        ("checked: 3", "1:10: checked: must be even"),
        ("hold: x", "1:7: hold: expected a whole number, got the string 'x'"),
        ("hold: [x]", "1:7: hold: expected a whole number or a mapping, got a list"),
        ("hold: {polls: 0}", "1:7: hold: polls must be at least 1"),
        ("hold: {duration: 5m}", "1:8: hold.duration: unknown key; there is polls and for"),
        (
            "mixed: 2.5",
            "1:8: mixed: expected a whole number or true or false or a string, got the number 2.5; quote it",
        ),
        ("names: a", "1:8: names: expected a list, got the string 'a'"),
        ("names: [a, no]", "1:12: names[1]: expected a string, got the boolean no; quote it"),
        ("mapped: {no: 1}", "1:10: mapped.no: expected a string, got the boolean no; quote it"),
        ("mapped: {a: 1, a: 2}", "1:16: mapped.a: duplicate key; it stands first on line 1"),
        ("levels: {middle: []}", "1:10: levels.middle: 'middle' is not one of low and high"),
        ("levels: {low: [{polls: x}]}", "1:24: levels.low[0].polls: expected a whole number, got the string 'x'"),
    ],
)
def test_wrong_values(text: str, problem: str) -> None:
    """A wrong value gives one sentence at its place: what was expected, what was found, what to do."""
    assert problems(text) == [f"x.yaml:{problem}"]


def test_all_problems_at_once() -> None:
    """No mistake hides another, and they come in the order of the file."""
    found = problems("tetx: a\nwhole: b\nnumber: c\nhold:\n  polls: d\n  polls: e\n  plls: f\nnames: [1, ok, 2]\n")
    assert [sentence.split(": ")[:2] for sentence in found] == [
        ["x.yaml:1:1", "tetx"],
        ["x.yaml:2:8", "whole"],
        ["x.yaml:3:9", "number"],
        ["x.yaml:5:10", "hold.polls"],
        ["x.yaml:6:3", "hold.polls"],
        ["x.yaml:7:3", "hold.plls"],
        ["x.yaml:8:9", "names[0]"],
        ["x.yaml:8:16", "names[2]"],
    ]


def test_aliases_are_refused_before_anything_expands() -> None:
    """Nine levels of nine aliases would be 400 million values; each alias is one sentence instead."""
    lines = ["a: &a [x]"] + [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    found = [sentence for sentence in problems("\n".join(lines)) if "unknown key" not in sentence]
    assert len(found) == 9
    assert "an unquoted '&' begins a YAML anchor" in found[0]
    assert all("an unquoted '*' begins a YAML alias" in sentence for sentence in found[1:])


def test_an_alias_hides_no_other_problem() -> None:
    """What stands beside an alias is judged all the same, and the alias is told once."""
    assert problems("names: [*all, 1]\ntext: *all\nwhole: x") == [
        "x.yaml:1:9: an unquoted '*' begins a YAML alias, which is not allowed; quote the text: '*all'",
        "x.yaml:1:15: names[1]: expected a string, got the number 1; quote it",
        "x.yaml:3:8: whole: expected a whole number, got the string 'x'",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 1_000_000, "nested deeper than"),
        ("- " * 1_000_000, "nested deeper than"),
        ("? " * 1_000_000, "nested deeper than"),
        ("- a\n" * 300_000, "more than 100,000 values"),
        ("a" * 5_000_000, "is longer than"),
        ("\x00", "the character U+0000 is not allowed"),
        ("text: \ud800", "the character U+D800 is not allowed"),
        ("a: \ufeff", "the character U+FEFF is not allowed"),
        ("%YAML 9.9\n--- a", "not valid YAML"),
        ("*" * 100_000, "begins a YAML alias"),
        ("text: " + "1:" * 100_000 + "1", "expected a string"),
        ("text: " + "1_" * 100_000 + ".", "expected a string"),
        ("names: [" + ", ".join(f"*a{number}" for number in range(5000)) + "]", "more than"),
    ],
)
def test_hostile_texts_are_refused_quickly(text: str, words: str) -> None:
    """Depth, number of values, size and characters are bounded, each with a sentence."""
    found = problems(text)
    assert words in " ".join(found)
    assert len(found) <= 1001


def test_the_number_of_problems_is_bounded() -> None:
    """A file in which everything is wrong gives the first thousand problems and says that there are more."""
    found = problems("names: [" + "1, " * 5000 + "]")
    assert len(found) == 1001
    assert found[0] == "x.yaml: more than 1000 problems; these are the first"


def test_long_and_odd_words_in_messages() -> None:
    """What the file says is cut and escaped before it is part of a message."""
    found = problems('"k\\e[2J": 1\ntext: ["a"]\nlevel: "' + "x" * 1000 + '"\ncolour: "\\u202e\\0"')
    assert found[0].startswith("x.yaml:1:1: k\\x1b[2J: unknown key")
    assert found[2] == "x.yaml:3:8: level: '" + "x" * 59 + "…' is not one of low and high"
    assert found[3].startswith("x.yaml:4:9: colour: '\\u202e\\x00' is not one of")


def test_places() -> None:
    """Every value's place is known by its dotted key."""
    places = decode_located("x.yaml", "text: a\nhold:\n  polls: 2\nnames:\n  - b\n  - c\n", Everything).places
    assert {key: str(place) for key, place in places.items()} == {
        "text": "x.yaml:1:7",
        "hold": "x.yaml:3:3",
        "hold.polls": "x.yaml:3:10",
        "names": "x.yaml:5:3",
        "names[0]": "x.yaml:5:5",
        "names[1]": "x.yaml:6:5",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("located: depth > 5", [(0, "1:10"), (8, "1:18")]),
        ("located: 'depth > 5'", [(0, "1:11"), (8, "1:19")]),
        ("located: 'it''s < 5'", [(0, "1:11"), (5, "1:17")]),
        ("located: |\n    depth > 5\n    and x\n", [(0, "2:5"), (8, "2:13"), (10, "3:5"), (14, "3:9")]),
        ("located: >-\n\n  depth\n  > 5\n", [(1, "3:3"), (7, "4:3")]),
        ("located: depth\n  > 5\n", [(0, "1:10"), (6, "2:3")]),
        ("located: >\r\n  depth\r\n  > 5\r\n", [(0, "2:3"), (6, "3:3")]),
        ('located: "a\\\n   b"', [(0, "1:11"), (1, "2:4")]),
    ],
)
def test_a_located_text_knows_the_place_of_each_character(text: str, expected: list[tuple[int, str]]) -> None:
    """Also inside quotes, and on the lines of a text that spans several."""
    located = decode("x.yaml", text, Everything).located
    assert located is not None
    assert [(offset, str(located.at(offset))) for offset, _ in expected] == [
        (offset, f"x.yaml:{place}") for offset, place in expected
    ]


def test_a_located_text_is_a_string_that_can_be_copied() -> None:
    """It equals its text, and copies keep the place."""
    located = decode("x.yaml", "located: 'abc'", Everything).located
    assert located == "abc"
    for other in (copy.deepcopy(located), pickle.loads(pickle.dumps(located))):
        assert isinstance(other, LocatedText)
        assert (other, other.place) == ("abc", Place("x.yaml", 1, 11))
    assert asdict(Everything(located=located))["located"] == "abc"


def test_words_from_elsewhere() -> None:
    """A flag's or variable's word is a string where one is wanted, whatever YAML would take it for."""
    place = Place("environment X")
    assert decode_word(place, "text", "no", str) == "no"
    assert decode_word(place, "whole", "17", int) == 17
    assert decode_word(place, "number", "2.5", float) == 2.5
    assert decode_word(place, "truth", "yes", bool) is True
    assert decode_word(place, "level", "high", Level) is Level.HIGH
    with pytest.raises(ConfigError, match=r"^environment X: whole: expected a whole number, got the string 'abc'$"):
        decode_word(place, "whole", "abc", int)


@pytest.mark.parametrize("hint", [set, tuple[int, str], complex, dict[str, int] | Everything])
def test_a_type_that_cannot_be_decoded_is_a_mistake_of_ours(hint: Any) -> None:
    """TypeError, not a problem of the file."""
    with pytest.raises(TypeError):
        decode("x.yaml", "{a: 1}" if "dict" in str(hint) else "[1, 2]" if "tuple" in str(hint) else "a", hint)


def test_the_slow_loader_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML comes without libyaml, files mean the same."""
    text = "text: 'a'\nhold: {polls: 2}\nnames:\n  - b\nlocated: >\n  c\n  d\n"
    fast = decode_located("x.yaml", text, Everything)
    monkeypatch.setattr(node, "_LOADER", yaml.SafeLoader)
    assert decode_located("x.yaml", text, Everything) == fast
    assert problems("text: *a\nwhole: {x: \n") != []


def test_a_list_has_so_many_entries() -> None:
    """One sentence instead of one for each of a hundred thousand."""
    with pytest.raises(ConfigError, match=r"^x.yaml:1:8: names: the list has 10,001 entries; it can have 10,000$"):
        decode("x.yaml", "names: [" + "a, " * 10_000 + "a]", Everything)


@dataclass(frozen=True, slots=True)
class Shape:
    """What every shape has."""

    name: Annotated[str, Doc("Its name.")]
    type: Annotated[Literal["round", "square"], Doc("Which shape it is.")] = "round"


@dataclass(frozen=True, slots=True)
class Round(Shape):
    """One that is meant without a type."""

    radius: Annotated[int, Doc("Its size.")] = 1


@dataclass(frozen=True, slots=True)
class Square(Shape):
    """One with a key that must be there, and a secret."""

    side: Annotated[int, Doc("Its size.")] = field(kw_only=True)
    key_file: Annotated[SecretFile | None, Doc("What opens it.")] = None


@dataclass(frozen=True, slots=True)
class Shapes:
    """A list of any of them."""

    shapes: Annotated[tuple[Annotated[Shape, ByType({"round": Round, "square": Square})], ...], Doc("All.")] = ()


def test_a_key_names_the_type_of_a_mapping() -> None:
    """Wherever it stands among the keys; without it the first type is meant."""
    text = "shapes: [{name: a}, {name: b, type: round, radius: 2}, {side: 3, name: c, type: square}]"
    assert decode("x.yaml", text, Shapes).shapes == (
        Round("a"),
        Round("b", "round", 2),
        Square("c", "square", side=3),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{name: a, type: rond, side: 3}", "1:26: shapes[0].type: 'rond' is not one of round and square; did you mean"),
        ("{name: a, side: 3}", "1:20: shapes[0].side: unknown key; there is name, type and radius"),
        ("{name: a, type: square}", "1:10: shapes[0].side: this key is missing"),
        ("{name: a, type: square, side: x}", "1:40: shapes[0].side: expected a whole number"),
        ("{name: a, type: square, side: 1, type: round}", "1:43: shapes[0].type: duplicate key; it stands first on"),
        ("{name: a, type: square, side: 1, key: x}", "1:43: shapes[0].key: a secret is never written in this file"),
        ("3", "1:10: shapes[0]: expected a mapping, got the number 3"),
    ],
)
def test_mistakes_in_a_mapping_of_a_type(text: str, problem: str) -> None:
    """Its keys are those of its type; where that is wrong, nothing else is said of it."""
    found = problems(f"shapes: [{text}]", Shapes)
    assert found[0].startswith(f"x.yaml:{problem}")
    assert len(found) == 1


def test_the_settings_and_the_schema_of_every_type() -> None:
    """Keys that all types have are described once; a schema asks for the keys of the type that is named."""
    assert [entry.key for entry in settings_of(Shapes)] == [
        "shapes",
        "shapes[].name",
        "shapes[].type",
        "shapes[].radius",
        "shapes[].side",
        "shapes[].key_file",
    ]
    schema = Draft202012Validator(json_schema(Shapes))
    for shape in ({"name": "a", "radius": 2}, {"name": "a", "type": "square", "side": 1}):
        schema.validate({"shapes": [shape]})
    wrong: list[tuple[dict[str, object], str]] = [
        ({"name": "a", "type": "square"}, "$.shapes[0]"),
        ({"name": "a", "side": 1}, "$.shapes[0]"),
        ({"name": "a", "type": "rond"}, "$.shapes[0].type"),
        ({"name": "a", "type": "square", "side": "x"}, "$.shapes[0].side"),
    ]
    for mistaken, path in wrong:
        assert [error.json_path for error in schema.iter_errors({"shapes": [mistaken]})] == [path]
