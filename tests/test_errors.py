"""The error tree: codes are public API."""

from __future__ import annotations

import caveman_wasm.errors as errors
from caveman_wasm.errors import CavemanError, Forgotten, NotFound, StoreReset

CODES = {
    "NotFound": "cave_unknown_handle",
    "Forgotten": "cave_forgotten",
    "StoreReset": "cave_store_reset",
    "InvalidReference": "cave_invalid_reference",
    "BudgetExceeded": "cave_ccr_budget_exceeded",
    "StoreUnavailable": "cave_ccr_unavailable",
    "UnsupportedVersion": "cave_unsupported_version",
    "CorruptRecord": "cave_ccr_corrupt",
    "Conflict": "cave_conflict",
    "InvalidBundle": "cave_invalid_bundle",
    "InputTooLarge": "cave_input_too_large",
    "InvalidArguments": "cave_invalid_arguments",
    "StartFailed": "cave_start_failed",
    "WorkerLost": "cave_worker_lost",
}


def test_every_error_has_the_code_that_was_promised() -> None:
    assert {name: getattr(errors, name).code for name in CODES} == CODES
    assert set(errors.__all__) == {*CODES, "CavemanError"}


def test_every_error_is_a_caveman_error_and_no_two_share_a_code() -> None:
    assert all(issubclass(getattr(errors, name), CavemanError) for name in CODES)
    assert len(set(CODES.values())) == len(CODES)


def test_who_catches_not_found_catches_forgotten_and_reset() -> None:
    assert issubclass(Forgotten, NotFound)
    assert issubclass(StoreReset, NotFound)


def test_an_error_says_which_reference_it_is_about() -> None:
    assert NotFound("gone", reference="ccr_1").reference == "ccr_1"
    assert NotFound("gone").reference is None
    assert str(NotFound("gone", reference="ccr_1")) == "gone"
