"""Shortens tool output for AI agents and gives the exact original back. See README.md."""

from caveman_wasm.engine import Engine
from caveman_wasm.errors import CavemanError
from caveman_wasm.model import Marker, Recovery, Result, Stats, TypedObject
from caveman_wasm.store import open_memory, open_store

__all__ = [
    "CavemanError",
    "Engine",
    "Marker",
    "Recovery",
    "Result",
    "Stats",
    "TypedObject",
    "open_memory",
    "open_store",
]
