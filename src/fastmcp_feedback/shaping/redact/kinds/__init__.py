"""Every kind of secret that is known by its shape, as data: name, format, made-up example, where it is published."""

from __future__ import annotations

from typing import Final

from . import ai, chat, cloud, databases, generic, hosts, monitoring, payment, registries, saas
from .model import CLASSES, Kind, pieces

ALL: Final[tuple[Kind, ...]] = (
    *cloud.KINDS,
    *hosts.KINDS,
    *registries.KINDS,
    *chat.KINDS,
    *payment.KINDS,
    *ai.KINDS,
    *monitoring.KINDS,
    *databases.KINDS,
    *saas.KINDS,
    *generic.KINDS,
)

__all__ = ["ALL", "CLASSES", "Kind", "pieces"]
