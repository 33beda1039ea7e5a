"""A rule of a site, for the commands that read rule files."""

from __future__ import annotations

RULES = """\
rules:
  - id: MY-01
    title: A pool of ours
    kind: operational
    scope: buffer_pool
    when: free_pct < 30
    severity: info
    summary: "buffer pool {name}: {free_pct}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Buffer pools}
"""
