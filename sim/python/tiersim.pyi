"""Discrete-event simulator of memory tiers and interconnects for LLM inference.

Results are those of the command line's --json, as dictionaries; `tiersim.list("metrics")` defines the
metrics. The shipped configurations are found above the module, or where TIERSIM_CONFIGS says.
"""
import os
from typing import Any, List, Sequence, TypedDict

__version__: str

class Diagnostic(TypedDict):
    file: str
    line: int  # from 1
    column: int  # from 1, in bytes
    path: str  # of the setting, as `set` takes it; may be empty
    message: str
    hint: str  # may be empty
    text: str  # all of it, as the command line prints it

class Error(Exception):
    """What cannot be done: a file that cannot be read, a list that there is not."""

class ConfigError(Error):
    """Mistakes in a configuration, all of them; or a scenario that does not fit its hardware."""

    diagnostics: List[Diagnostic]

def run(path: str | os.PathLike[str], set: Sequence[str] = ()) -> dict[str, Any]:
    """Simulates a scenario or a served workload, with settings like "step.batch=8" on top.

    The record: schema, provenance, config, results. Other Python threads go on meanwhile.
    """

def config(path: str | os.PathLike[str], set: Sequence[str] = ()) -> dict[str, Any]:
    """The effective configuration, with bases and defaults laid in."""

def list(what: str) -> List[dict[str, Any]]:
    """What there is: hw, devices, systems, topologies, calibrations, models, methods, metrics, scenarios, serving."""
