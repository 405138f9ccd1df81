"""Loss detectors written in Python, and senders that use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from unruffled._core import Error, Rule, View


class Detector(Protocol):
    """The methods of a loss detector.

    ``rule`` is required. These methods are called if the class has them:

    ``on_ack(facts, view)``
        An acknowledgement was read: :class:`AckFacts`.
    ``on_reordering(sample, view)``
        A hole closed because its segment was late: :class:`Reordering`.
    ``on_recovery(view)``, ``on_recovery_end(view)``
        Fast retransmit began, or recovery ended.
    ``on_spurious_fast_retransmit(found, view)``
        A fast retransmit proved spurious: :class:`SpuriousFastRetransmit`.
    ``on_timeout(first, view)``
        The retransmission timer expired.
    """

    def rule(self, view: View) -> Rule:
        """Return the rule by which holes are deemed lost now."""
        ...


@dataclass(frozen=True)
class Own:
    """A sender with a detector of your own. :func:`own` returns it.

    Attributes
    ----------
    base
        The sender whose detector is replaced.
    detector
        A function that returns a detector for each connection, such as a class.
    name
        The name of the detector: the sender is called ``base+name``.
    """

    base: str
    detector: Callable[[], Detector]
    name: str


def own(base: str, detector: Callable[[], Detector], name: str | None = None) -> Own:
    """Put a loss detector of your own into a sender.

    Every acknowledgement calls Python, one run at a time. This is about a hundred
    times slower than a detector in Rust, and is meant for experiments. Results are
    not kept in any store.

    Parameters
    ----------
    base
        The sender whose detector is replaced, such as ``"sack"``.
    detector
        A function that returns a detector for each connection, such as a class.
        See :class:`Detector` for its methods.
    name
        The name of the detector, of small letters, digits and ``-``. The default
        is that of the class.

    Returns
    -------
    Own
        A sender for ``variants=[…]``.

    Examples
    --------
    >>> import unruffled
    >>> class Patient:
    ...     def __init__(self):
    ...         self.dupthresh = 3
    ...     def rule(self, view):
    ...         return unruffled.Rule(self.dupthresh)
    ...     def on_reordering(self, sample, view):
    ...         self.dupthresh = max(self.dupthresh, sample.length + 1)
    >>> patient = unruffled.own("sack", Patient)
    >>> found = unruffled.compare("rr-3", ["sack", patient], seeds=1, duration="5 s")
    >>> found.rows["variant"]
    ['sack', 'sack+patient']
    """
    called = name if name is not None else getattr(detector, "__name__", "own").lower()
    for argument, given in [("base", base), ("name", called)]:
        if not isinstance(given, str):
            raise Error(f"{argument}: expected a name, found {type(given).__name__}")
    if not callable(detector):
        expected = "expected a class, or a function that makes a detector"
        raise Error(f"detector: {expected}, found {type(detector).__name__}")
    return Own(base, detector, called)
