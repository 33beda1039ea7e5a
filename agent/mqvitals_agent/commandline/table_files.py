"""Tables written row by row: as CSV, JSON lines or Parquet, to standard output or as a file that is whole or not there."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any, Final, Protocol

from mqvitals_agent.errors import Failure
from mqvitals_agent.new_files import new_file

FileCell = int | float | str | None
"""Of a time ms UTC; None: absent."""

_ROWS_AT_ONCE: Final = 50_000
"""Rows that a Parquet file holds together: what is kept in memory until they are written."""


class CellType(Enum):
    """What the cells of a column are."""

    TIME = "time"
    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole number"


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a table: its name, what its cells are, and the unit and meaning where these are told."""

    name: str
    type: CellType
    unit: str = ""
    meaning: str = ""


class TableForm(Enum):
    """In which form a table is written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def form_of(path: Path) -> TableForm | None:
    """The form that the ending of a file's name tells; None: none."""
    endings = {f".{each.value}": each for each in TableForm} | {".ndjson": TableForm.JSONL}
    return endings.get(path.suffix.lower())


class TableWriter(Protocol):
    """Writes rows of a table to an open stream, until ``end``.

    Rows have a cell for each column; numbers that are not finite are written as absent. Raises OSError.
    """

    def write(self, rows: Iterator[Sequence[FileCell]]) -> int:
        """Write these rows; returns how many they were."""

    def end(self) -> None:
        """Write what is left."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """One line of text for each row."""

    stream: IO[str]
    line: Callable[[Sequence[FileCell]], str]

    def write(self, rows: Iterator[Sequence[FileCell]]) -> int:
        count = 0
        for row in rows:
            self.stream.write(self.line(row) + "\n")
            count += 1
        return count

    def end(self) -> None:
        """Each line is written already."""


def _csv(columns: Sequence[FileColumn], stream: IO[str]) -> TableWriter:
    """With a first line of the columns' names."""
    texts = [_csv_text(each) for each in columns]
    stream.write(",".join(each.name for each in columns) + "\n")
    return _Lines(stream, lambda row: ",".join(text(cell) for text, cell in zip(texts, row, strict=True)))


def _json_lines(columns: Sequence[FileColumn], stream: IO[str]) -> TableWriter:
    encode = json.JSONEncoder().encode

    def line(row: Sequence[FileCell]) -> str:
        return encode({each.name: _json_value(each, cell) for each, cell in zip(columns, row, strict=True)})

    return _Lines(stream, line)


def _csv_text(column: FileColumn) -> Callable[[FileCell], str]:
    from mqvitals_agent.text.figure import stamp
    from mqvitals_agent.text.terminal import csv_cell

    def number(cell: FileCell) -> str:
        return "" if cell is None or (isinstance(cell, float) and not math.isfinite(cell)) else str(cell)

    def text(cell: FileCell) -> str:
        return "" if cell is None else csv_cell(str(cell))

    def time(cell: FileCell) -> str:
        return stamp(cell) if isinstance(cell, int) else ""

    return {CellType.TEXT: text, CellType.TIME: time}.get(column.type, number)


def _json_value(column: FileColumn, cell: FileCell) -> FileCell:
    from mqvitals_agent.text.figure import stamp

    if column.type is CellType.TIME and isinstance(cell, int):
        return stamp(cell)
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


class _Parquet:
    """Times are UTC with ms; numbers are 64-bit floating point, which whole numbers up to 2^53 are exactly."""

    def __init__(self, columns: Sequence[FileColumn], stream: IO[bytes]) -> None:
        self._columns = tuple(columns)
        self._arrow, parquet = _pyarrow()
        types = {
            CellType.TIME: self._arrow.timestamp("ms", tz="UTC"),
            CellType.TEXT: self._arrow.string(),
            CellType.NUMBER: self._arrow.float64(),
            CellType.WHOLE: self._arrow.int64(),
        }
        fields = [
            self._arrow.field(each.name, types[each.type], metadata={"unit": each.unit, "meaning": each.meaning})
            for each in columns
        ]
        self._schema = self._arrow.schema(fields)
        self._writer = parquet.ParquetWriter(stream, self._schema, compression="zstd")
        self._rows: list[Sequence[FileCell]] = []

    def write(self, rows: Iterator[Sequence[FileCell]]) -> int:
        count = 0
        for row in rows:
            self._rows.append(row)
            count += 1
            if len(self._rows) >= _ROWS_AT_ONCE:
                self._flush()
        return count

    def _flush(self) -> None:
        if not self._rows:
            return
        arrays = [
            self._arrow.array([_parquet_value(column, cell) for cell in cells], field.type)
            for column, field, cells in zip(self._columns, self._schema, zip(*self._rows, strict=True), strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()

    def end(self) -> None:
        self._flush()
        self._writer.close()


def _parquet_value(column: FileColumn, cell: FileCell) -> FileCell:
    if column.type is CellType.NUMBER and cell is not None:
        number = float(cell)
        return number if math.isfinite(number) else None
    return cell


def _pyarrow() -> tuple[Any, Any]:
    """Raises Failure where it is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise Failure(
            f"Parquet needs the package pyarrow ({error})",
            hint="install it with: pip install 'mqvitals[parquet]', or take --format csv",
        ) from error
    return pa, parquet


@contextmanager
def table_writer(
    columns: Sequence[FileColumn], form: TableForm, target: Path | None, *, replace: bool = False
) -> Iterator[TableWriter]:
    """Writes a table into the file ``target``, as ``new_file`` does; None: to standard output.

    Raises Failure as ``new_file``, and where pyarrow is missing; OSError for standard output.
    """
    if form is TableForm.PARQUET:
        _pyarrow()
    if target is None:
        if form is TableForm.PARQUET and sys.stdout.isatty():
            raise Failure("Parquet is nothing for a terminal", hint="name a file with --out FILE")
        writer = _writer(columns, form, sys.stdout.buffer if form is TableForm.PARQUET else sys.stdout)
        yield writer
        writer.end()
        return
    with new_file(target, replace=replace, binary=form is TableForm.PARQUET) as stream:
        writer = _writer(columns, form, stream)
        yield writer
        writer.end()


def _writer(columns: Sequence[FileColumn], form: TableForm, stream: IO[Any]) -> TableWriter:
    made: dict[TableForm, Callable[[Sequence[FileColumn], IO[Any]], TableWriter]] = {
        TableForm.CSV: _csv,
        TableForm.JSONL: _json_lines,
        TableForm.PARQUET: _Parquet,
    }
    return made[form](columns, stream)
