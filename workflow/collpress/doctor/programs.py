"""Starting small programs: what they say, never longer than a limit, and nothing of them left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collpress.execute.description import how_it_ended
from collpress.execute.processes import dies_with_parent, end_session


@dataclass(frozen=True)
class Answer:
    """How a program ended and what it printed; `code` is None where it could not be started or was killed for time."""

    code: int | None
    output: str
    errors: str
    how: str

    @property
    def last_words(self) -> str:
        """How it ended, and the last line that tells something."""
        lines = [line.strip() for line in (self.errors + "\n" + self.output).splitlines()]
        telling = [line for line in lines if any(c.isalpha() for c in line)]
        return f"{self.how}: {telling[-1]}" if telling else self.how


def ask(
    command: Sequence[str | Path], *, seconds: float = 60, environment: Mapping[str, str] | None = None,
    mark: Path | None = None,
) -> Answer:  # fmt: skip
    """Run a program to its end, or to the limit of `seconds`; every process that it started ends with it.

    Parameters
    ----------
    mark : the TMPDIR in `environment`, where the program starts others that leave its session, as launchers do.
    """
    known_by = f"TMPDIR={mark}" if mark else ""
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ if environment is None else environment,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGKILL),
        )
    except OSError as error:
        return Answer(None, "", "", f"{Path(command[0]).name} cannot be started: {error.strerror or error}")
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end_session(process.pid, mark=known_by)
        output, errors = process.communicate()
        return Answer(None, output, errors, f"no end within {seconds:g} s, killed")
    finally:
        end_session(process.pid, mark=known_by)
    how = how_it_ended(process.returncode) if process.returncode else "exit code 0"
    return Answer(process.returncode, output, errors, how)
