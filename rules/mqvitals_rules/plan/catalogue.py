"""Every formula by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from mqvitals_rules.plan import (
    admin_structure,
    backup,
    batch,
    buffer_pool,
    dynamic_queue,
    expiry_scan,
    indexed_get,
    initiator,
    interval,
    jms,
    log_compression,
    log_data,
    message_protection,
    network,
    page_set,
    processor,
    put1,
    queue_index,
    receive_timeout,
    retry,
    security_storage,
    selector,
    shared_queue,
    structure,
    tls,
    vsam_buffers,
)
from mqvitals_rules.plan.formula import Formula

_MODULES: tuple[ModuleType, ...] = (
    structure,
    admin_structure,
    backup,
    shared_queue,
    log_data,
    log_compression,
    page_set,
    buffer_pool,
    queue_index,
    security_storage,
    vsam_buffers,
    put1,
    dynamic_queue,
    indexed_get,
    selector,
    jms,
    expiry_scan,
    message_protection,
    processor,
    batch,
    network,
    retry,
    receive_timeout,
    tls,
    interval,
    initiator,
)


def _formulas() -> Mapping[str, Formula]:
    found = [each for module in _MODULES for each in vars(module).values() if isinstance(each, Formula)]
    return {each.name: each for each in found}


FORMULAS: Mapping[str, Formula] = _formulas()
"""In the order of the modules, and within them of the text."""
