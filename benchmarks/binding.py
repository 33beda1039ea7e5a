"""IBM's own Python PCF decoder, from the package ibmmq, without IBM's client libraries.

Its decoder is plain Python, but importing the package loads a C extension that is linked to those libraries; a stand-in
takes its place. No call of the MQI can be made afterwards, and none is.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

INSTALL = "install ibmmq beside mqvitals to compare with it: pip install ibmmq (its wheel is enough, no MQ client)"


def ibmmq_unpack() -> tuple[Callable[[bytes], Any], str] | None:
    """``PCFExecute.unpack`` and the package's version, or None when ibmmq is not installed."""
    if find_spec("ibmmq") is None:
        return None
    extension = types.ModuleType("ibmmqc")
    release = version("ibmmq")
    vars(extension).update(
        __version__=release, __cmdlevel__="940", __mqbuild__="client", pymqeError=Exception, MQCBINIT=lambda _function: None
    )
    # The package puts its own folder first on the path and imports the extension from there, under either name.
    sys.modules["ibmmqc"] = sys.modules["ibmmq.ibmmqc"] = extension
    package = importlib.import_module("ibmmq")
    return package.PCFExecute.unpack, release
