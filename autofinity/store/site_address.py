"""URL of a site's database: what it looks like, and how it is shown without its password.

The launcher distinguishes URLs and files by the same rules (`native/launcher/site_address.c`); a
table of cases asks both.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_letters, digits

SITE_VARIABLE = "AUTOFINITY_SITE_DB"
"""Variable with the URL of the site's database; the launcher hands it to the monitor this way,
since arguments of processes are shown to everybody."""
SCHEMES = ("postgresql://", "postgres://")
EXPECTED = "postgresql://USER@HOST:PORT/DATABASE"
_OF_SCHEMES = frozenset(ascii_letters + digits + "+-._:")
_BEFORE_URLS = " \t\r\n'\""
_SECRETS = ("password",)


def is_site(text: str) -> bool:
    """Whether a text is meant as the URL of a site's database, and not as a file."""
    return text.startswith(SCHEMES)


def is_other_url(text: str) -> bool:
    """Whether a text looks like a URL, but not like that of a site's database: no file is meant,
    and the text may hold a password, so that nobody shows it.
    """
    if is_site(text):
        return False
    bare = text.lstrip(_BEFORE_URLS)
    scheme, found, _ = bare.partition("://")
    named = bool(found) and not set(scheme) - _OF_SCHEMES
    lower = "".join(c.lower() if c.isascii() else c for c in bare)
    postgres = tuple(name + colon for name in ("postgresql", "postgres") for colon in (":", "%3a"))
    return named or lower.startswith(postgres) or "password=" in lower


def site_name(url: str) -> str:
    """The URL without passwords: for people, and to name the site in the spool.

    All that may be a password is left out, also of a URL that libpq would read in another way.
    """
    from urllib.parse import unquote

    scheme, found, rest = url.partition("://")
    if not found:
        return ""
    rest = rest.partition(";")[0]  # as in JDBC's URLs; libpq takes it for a part of a name
    place, question, parameters = rest.partition("?")
    if "@" in rest:  # a password may hold any character, if its writer did not know the rules
        user_and_password, _, host = place.rpartition("@")
        user = unquote(user_and_password.partition(":")[0]).partition(":")[0]
        place = f"{user}@{host}" if "@" in place else host
    else:
        host_and_port, slash, database = place.partition("/")
        host, _, port = host_and_port.partition(":")
        # Where the host was forgotten, a password stands there. `[` begins an IPv6 address.
        if not (host.startswith("[") and "]" in host_and_port) and not port.isdecimal():
            place = host + slash + database
    kept = [
        part
        for part in parameters.split("&")
        if part and not any(secret in unquote(part).lower() for secret in _SECRETS)
    ]
    if "@" in parameters:  # a question mark in the password
        kept, place = [], place.partition(":")[0]
    return f"{scheme}://{place}" + (question + "&".join(kept) if kept else "")


def site_of(environment: Mapping[str, str]) -> str:
    """URL that the environment names; empty: none."""
    url = environment.get(SITE_VARIABLE, "")
    return url if is_site(url) else ""
