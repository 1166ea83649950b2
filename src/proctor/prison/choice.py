"""Chooses a prison: what the user says, or the strongest that works on this machine."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proctor.errors import SettingsError, TrustError, did_you_mean
from proctor.prison.limits import Limits
from proctor.prison.prisons import BY_STRENGTH, KINDS, Docker, NoPrison, Prison
from proctor.prison.trial import Court, PrisonError, Trial
from proctor.settings import settings

AUTO = "auto"
CHOICES = (AUTO, *KINDS)
"""What ``--sandbox`` takes; ``docker:IMAGE`` names an image."""

_PROBE_LIMITS = Limits(seconds=10.0)
_PROBE = """
def escapes():
    import os, socket
    found = []
    try:
        found.append(open({path!r}).read())
    except OSError:
        pass
    try:
        open({path!r} + '.new', 'w').close()
        found.append('wrote')
    except OSError:
        pass
    try:
        socket.create_connection(('127.0.0.1', 9), 0.2)
    except ConnectionError:
        found.append('network')
    except OSError as error:
        if error.errno not in (1, 13, 101):
            found.append('network')
    try:
        open('/proc/{process}/environ').close()
        found.append('environment')
    except OSError:
        pass
    return found
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a kind of prison works here.

    Attributes:
        name: Of the kind.
        works: Whether it does: a program was tried in it, which tried to get out.
        what: What it does.
        reason: Why it does not.
    """

    name: str
    works: bool
    what: str
    reason: str = ""


@cache
def examined(name: str) -> Finding:
    """Return whether a kind of prison works here; it is tried once."""
    prison = KINDS[name]()
    reason = prison.missing() or _tried(prison)
    return Finding(name, not reason, prison.what, reason)


def _tried(prison: Prison) -> str:
    """Return what is wrong with a prison: it cannot be built, or a program gets out of it."""
    if isinstance(prison, NoPrison):
        return ""
    with tempfile.TemporaryDirectory(prefix="proctor-probe-") as folder:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        source = _PROBE.format(path=str(secret), process=os.getpid())
        court = Court(prison, _PROBE_LIMITS)
        try:
            found = court.outcome(Trial(source, "assert escapes() == [], escapes()", limits=_PROBE_LIMITS))
        except PrisonError as error:
            return str(error)
        finally:
            court.close()
    return "" if found.how == "pass" else f"a program got out of it: {found.why or found.how}"


def available() -> list[Finding]:
    """Return the state of every kind of prison, the strongest first."""
    return [examined(name) for name in KINDS]


def is_choice(text: str) -> bool:
    """Whether a text names a kind of prison, as ``--sandbox`` takes it."""
    name, _, image = text.partition(":")
    return text in CHOICES or (name == Docker.name and bool(image))


def chosen() -> Prison:
    """Return the prison that programs of models run in.

    Raises:
        SettingsError: The setting names none.
        TrustError: The one that is named does not work here, or none does, or none is wanted and nobody trusts code.
    """
    wanted = str(settings.sandbox or AUTO)
    name, _, image = wanted.partition(":")
    if not is_choice(wanted):
        raise SettingsError(
            f"there is no sandbox '{settings.sandbox}'",
            why=f"there are {', '.join(CHOICES)}",
            hint=did_you_mean(name, CHOICES),
        )
    if name == NoPrison.name:
        return _none()
    if name == AUTO:
        return _strongest()
    finding = examined(name) if not image else Finding(name, not Docker(image).missing(), "", Docker(image).missing())
    if not finding.works:
        raise TrustError(
            f"the sandbox '{name}' does not work here", why=finding.reason, hint="proctor doctor says which do"
        )
    return Docker(image) if image else KINDS[name]()


def _strongest() -> Prison:
    found = [examined(name) for name in BY_STRENGTH]
    for finding in found:
        if finding.works:
            return KINDS[finding.name]()
    raise TrustError(
        "programs that a model wrote would have to run, and this machine has no prison for them",
        why="; ".join(f"{each.name}: {each.reason}" for each in found),
        hint="install bubblewrap, or say --sandbox docker; or, where nothing is secret, --sandbox none --trust-code",
    )


def _none() -> Prison:
    if not settings.trust_code:
        raise TrustError(
            "programs that a model wrote would have to run without a prison",
            why="they run with your rights, in a process with a time and a memory limit",
            hint="say --trust-code as well; or --sandbox auto, for the best prison that this machine has",
        )
    return NoPrison()
