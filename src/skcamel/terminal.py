"""Text as a terminal can show it: names come from files, and a terminal obeys the control characters in them."""

from __future__ import annotations


def one_line(text: str) -> str:
    r"""`text` with an escape for each character that a terminal does not show: controls, ends of line, direction marks, half characters.

    Examples
    --------
    >>> one_line("sea\x1b[31m\n")
    'sea\\x1b[31m\\n'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable(text: str) -> str:
    r"""`text` of several lines, each as :func:`one_line` writes it.

    Examples
    --------
    >>> printable("sea\n\u202esun")
    'sea\n\\u202esun'
    """
    return "\n".join(map(one_line, text.split("\n")))
