"""``python -m caveman_wasm`` is ``caveman-engine``."""

from caveman_wasm.doors.cli import engine_main

if __name__ == "__main__":
    raise SystemExit(engine_main())
