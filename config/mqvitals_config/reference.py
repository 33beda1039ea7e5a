"""Every setting as a row: what the loader, the reference page and ``mqvitals config show`` go through."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from mqvitals_config.doc import Doc
from mqvitals_config.shape import hints_of, type_name

BEGIN = "<!-- every setting: made by `python -m mqvitals_config docs/configuration.md` -->"
END = "<!-- end of every setting -->"


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting: its dotted key (``[]`` for each entry of a list), its form, its default in words, its meaning.

    ``hint`` is the type that the decoder takes.
    """

    key: str
    form: str
    default: str
    text: str
    environment: str
    flag: str
    hint: Any


@cache
def entries(root: Any) -> tuple[Entry, ...]:
    """Every setting of the dataclass ``root``, sections before what is in them, in the order of the file."""
    return tuple(_entries(root, "", set()))


def _entries(shape: Any, prefix: str, told: set[Any]) -> Iterator[Entry]:
    """The settings of a shape; one that has been ``told`` of is not told of again where it stands a second time."""
    told.add(shape)
    hints = hints_of(shape)
    for item in fields(shape):
        hint, doc = _split(hints[item.name])
        key = prefix + item.name
        inner = _inside(hint)
        # A variable or a flag speaks for one setting, not for each in a list.
        one = "[]" not in prefix
        environment, flag = (doc.environment, doc.flag) if one else ("", "")
        yield Entry(key, type_name(hint), _default(item, doc), doc.text, environment, flag, hint)
        if inner is not None and inner not in told:
            yield from _entries(inner, f"{key}[]." if get_origin(hint) is tuple else f"{key}.", told)


def _split(hint: Any) -> tuple[Any, Doc]:
    """A field's type and its Doc."""
    base, *metadata = get_args(hint)
    doc = next(item for item in metadata if isinstance(item, Doc))
    others = tuple(item for item in metadata if not isinstance(item, Doc))
    return (Annotated[(base, *others)] if others else base), doc


def _inside(hint: Any) -> Any:
    """The dataclass whose keys stand under this one."""
    if is_dataclass(hint):
        return hint
    if get_origin(hint) is tuple and is_dataclass(get_args(hint)[0]):
        return get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        return next((member for member in get_args(hint) if is_dataclass(member)), None)
    return None


def _default(item: Field[Any], doc: Doc) -> str:
    if item.default is MISSING:
        return "" if item.default_factory is not MISSING else "required"
    return doc.default or ("none" if item.default in (None, ()) else str(item.default))


def table(root: Any) -> str:
    """Every setting of ``root`` as a table in Markdown, the keys as they nest in the file."""
    lines = ["| Key | What it is | Form | Default | Elsewhere |", "| --- | --- | --- | --- | --- |"]
    for entry in entries(root):
        elsewhere = ", ".join(f"`{name}`" for name in (entry.flag, entry.environment) if name)
        cells = (f"`{entry.key}`", entry.text, entry.form, entry.default, elsewhere)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def rewritten(page: str, root: Any) -> str:
    """``page`` with the table of ``root`` between its two markers made anew; raises ValueError without markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{before}{begin}\n{table(root)}{end}{after}"
