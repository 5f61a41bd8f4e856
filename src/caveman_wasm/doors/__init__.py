"""Doors: each translates one protocol to engine calls."""
