"""Builds the stand-in for IBM's client library with the system's compiler, and installs the real bindings over it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

IBMMQ: Final = "ibmmq==2.1.2"
PYMQI: Final = "pymqi==1.12.13"
NO_COMPILER: Final = "no C compiler here (cc, gcc or clang): the stand-in for IBM's client library cannot be built"
"""What to say when skipping."""

_HERE: Final = Path(__file__).resolve().parent.parent
_NATIVE, _HEADERS = _HERE / "native", _HERE / "inc"
_NAMES: Final = ("libmqm_r.so", "libmqic_r.so")
_FLAGS: Final = ("-std=gnu17", "-Wall", "-Wextra", "-O2", "-fPIC", "-shared", "-pthread")
_PATIENCE_S: Final = 300


class BuildError(Exception):
    """The compiler or pip failed; the text is what it said last."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """Where the bindings were installed: ``ibmmq`` and ``pymqi`` are folders for PYTHONPATH, ``library`` is that of the
    shared libraries, for LD_LIBRARY_PATH. A binding whose folder is None could not be installed: see ``missing``.
    """

    library: Path
    ibmmq: Path | None
    pymqi: Path | None
    missing: Mapping[str, str]

    def require(self, binding: str) -> None:
        """Skip the test that asks where the binding could not be installed, as on a machine that reaches no package index."""
        if binding in self.missing:
            import pytest  # a benchmark uses this module, too

            pytest.skip(f"pip could not install {binding}: {self.missing[binding]}")

    def environment(self, *bindings: str, **more: str) -> dict[str, str]:
        """This process's environment with these bindings importable (both when none is named), and ``more``.

        KeyError for a binding that is not installed.
        """
        folders = []
        for name in bindings or ("ibmmq", "pymqi"):
            folder = {"ibmmq": self.ibmmq, "pymqi": self.pymqi}[name]
            if folder is None:
                raise KeyError(name)
            folders.append(str(folder))
        # Nothing of the user's own MQ set-up may lead a test elsewhere.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("MQ") or name.startswith("MQVITALS")
        }
        return {
            **kept,
            "PYTHONPATH": _joined(*folders, os.environ.get("PYTHONPATH", "")),
            "LD_LIBRARY_PATH": _joined(str(self.library), os.environ.get("LD_LIBRARY_PATH", "")),
            **more,
        }


def compiler() -> str | None:
    """The C compiler: $CC, cc, gcc or clang, whichever is there; None when none is."""
    return next(
        (found for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and (found := shutil.which(name))), None
    )


def build(folder: Path) -> Path:
    """The folder with both shared libraries, made inside ``folder`` unless it is there already. Raises BuildError.

    Its name depends on the sources, so whoever keeps ``folder`` compiles only what has changed.
    """
    found = compiler()
    if found is None:
        raise BuildError(NO_COMPILER)
    target = folder / f"standin-{_fingerprint(_FLAGS)}" / "lib64"
    if all((target / name).exists() for name in _NAMES):
        return target
    target.mkdir(parents=True, exist_ok=True)
    made = target / f"{_NAMES[0]}.{os.getpid()}"
    _run([found, *_FLAGS, f"-I{_HEADERS}", "-o", str(made), *map(str, sorted(_NATIVE.glob("*.c")))], {})
    shutil.copy(made, target / f"{_NAMES[1]}.{os.getpid()}")
    for name in _NAMES:  # renamed when whole: another process may be looking
        (target / f"{name}.{os.getpid()}").replace(target / name)
    return target


def install_bindings(folder: Path, library: Path) -> Bindings:
    """Install the real ``ibmmq`` and ``pymqi`` with pip, each in a folder of its own inside ``folder``, once.

    pymqi is built from its source against our headers and the library. What pip could not install is said in
    ``missing``; nothing is raised for it.
    """
    root = folder / f"bindings-{_fingerprint((IBMMQ, PYMQI, sys.version))}"
    missing: dict[str, str] = {}
    found: dict[str, Path | None] = {"ibmmq": None, "pymqi": None}
    sdk = root / "sdk"
    _link(sdk / "inc", _HEADERS)
    _link(sdk / "lib64", library)
    # pymqi wants C before C23, where empty brackets do not mean "no arguments".
    flags = " ".join(filter(None, (os.environ.get("CFLAGS"), "-std=gnu17", "-w")))
    settings = {"MQ_FILE_PATH": str(sdk), "CFLAGS": flags}
    for name, wanted, how in (("ibmmq", IBMMQ, ["--only-binary=:all:"]), ("pymqi", PYMQI, ["--no-binary=pymqi"])):
        target = root / name
        if not (target / name).is_dir():
            try:
                _install(wanted, how, target, settings)
            except BuildError as error:
                missing[name] = str(error)
                continue
        found[name] = target
    return Bindings(library, found["ibmmq"], found["pymqi"], missing)


def _install(wanted: str, how: list[str], target: Path, settings: Mapping[str, str]) -> None:
    part = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _run([*pip, *how, "--no-cache-dir", "--target", str(part), wanted], settings)
    if target.exists():  # another process was quicker
        shutil.rmtree(part)
        return
    part.rename(target)


def _run(words: list[str], settings: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, env={**os.environ, **settings}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{words[0]}: {error}") from None
    if done.returncode:
        raise BuildError(f"{' '.join(words[:4])}... failed: {(done.stderr or done.stdout).strip()[-2000:]}")


def _fingerprint(parts: tuple[str, ...]) -> str:
    digest = sha256("\0".join(parts).encode())
    for source in sorted((*_NATIVE.iterdir(), *_HEADERS.iterdir())):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:12]


def _link(name: Path, target: Path) -> None:
    name.parent.mkdir(parents=True, exist_ok=True)
    if name.is_symlink() and name.readlink() != target:
        name.unlink()
    if not name.is_symlink():
        with suppress(FileExistsError):  # another process was quicker
            name.symlink_to(target)


def _joined(*paths: str) -> str:
    return os.pathsep.join(filter(None, paths))
