"""The error tree. One base class, one code a leaf; codes are public API (CLI, MCP and JS carry them).

    CavemanError
    ├── NotFound            cave_unknown_handle       well-formed, not here
    │   ├── Forgotten       cave_forgotten            the operator deleted it
    │   └── StoreReset      cave_store_reset          the browser dropped the database that held it
    ├── InvalidReference    cave_invalid_reference    malformed handle, pointer or selector
    ├── BudgetExceeded      cave_ccr_budget_exceeded  the put would pass the budget; nothing evicted
    ├── StoreUnavailable    cave_ccr_unavailable      the store cannot be read or written
    ├── UnsupportedVersion  cave_unsupported_version  store or bundle written by a newer version
    ├── CorruptRecord       cave_ccr_corrupt          stored bytes do not match their handle
    ├── Conflict            cave_conflict             other bytes or fields under the same id
    ├── InvalidBundle       cave_invalid_bundle       not a bundle, cut short, or a hash is off
    ├── InputTooLarge       cave_input_too_large      over 64 MiB; never cut
    ├── InvalidArguments    cave_invalid_arguments    wrong type, unknown option, bad environment value
    ├── StartFailed         cave_start_failed         browser only: Pyodide did not start
    └── WorkerLost          cave_worker_lost          browser only: the worker died with the call in it

A message says what happened, to which reference, and what to do next. It never echoes payload content.
"""

from __future__ import annotations

__all__ = [
    "BudgetExceeded",
    "CavemanError",
    "Conflict",
    "CorruptRecord",
    "Forgotten",
    "InputTooLarge",
    "InvalidArguments",
    "InvalidBundle",
    "InvalidReference",
    "NotFound",
    "StartFailed",
    "StoreReset",
    "StoreUnavailable",
    "UnsupportedVersion",
    "WorkerLost",
]


class CavemanError(Exception):
    """Base of every error this package raises on purpose.

    ``code`` is stable and machine-readable; ``reference`` is the handle, object id or reference the
    error is about, or None.
    """

    code = "cave_error"

    def __init__(self, message: str, *, reference: str | None = None) -> None:
        super().__init__(message)
        self.reference = reference


class NotFound(CavemanError):
    """A well-formed reference that this store does not hold."""

    code = "cave_unknown_handle"


class Forgotten(NotFound):
    """The operator deleted the record; the message gives the day."""

    code = "cave_forgotten"


class StoreReset(NotFound):
    """The handle was minted in a database that the browser has since dropped."""

    code = "cave_store_reset"


class InvalidReference(CavemanError):
    """A malformed handle, pointer or selector."""

    code = "cave_invalid_reference"


class BudgetExceeded(CavemanError):
    """The put would pass the store's budget; nothing was stored and nothing evicted."""

    code = "cave_ccr_budget_exceeded"


class StoreUnavailable(CavemanError):
    """The store cannot be opened, read or written."""

    code = "cave_ccr_unavailable"


class UnsupportedVersion(CavemanError):
    """A store or bundle written by a newer version of this package."""

    code = "cave_unsupported_version"


class CorruptRecord(CavemanError):
    """Stored bytes that no longer match their handle; they are never returned."""

    code = "cave_ccr_corrupt"


class Conflict(CavemanError):
    """Other bytes or fields under an id that is taken; the first stays."""

    code = "cave_conflict"


class InvalidBundle(CavemanError):
    """Not a bundle, cut short, or a hash in it is off."""

    code = "cave_invalid_bundle"


class InputTooLarge(CavemanError):
    """A payload over 64 MiB. It is refused whole, never cut."""

    code = "cave_input_too_large"


class InvalidArguments(CavemanError):
    """A wrong type, an unknown option, an unknown object type or a bad environment value."""

    code = "cave_invalid_arguments"


class StartFailed(CavemanError):
    """Browser only: the Python runtime did not start."""

    code = "cave_start_failed"


class WorkerLost(CavemanError):
    """Browser only: the worker died while the call was in it."""

    code = "cave_worker_lost"
