"""What the environment says of proxies and certificates, and which of its variables cannot be used."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment

from secateur.core.errors import SecateurError

__all__ = ["client_of", "through"]

PROXIES = ("all_proxy", "http_proxy", "https_proxy")


def client_of(headers: Mapping[str, str], timeout: float):
    """An HTTP client that follows no redirects. Raises SecateurError, with the variable's name, for an unusable setting."""
    import httpx

    try:
        return httpx.Client(timeout=timeout, headers=headers)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        name, fix = _culprit()
        why = f": {error}" if isinstance(error, (ImportError, OSError)) else ""  # others may show part of a password
        raise SecateurError(f"{name}: cannot be used ({type(error).__name__}{why}). Fix: {fix}.") from None


def through(url: str) -> str:
    """`, through the proxy in HTTP_PROXY`: what the environment adds to a request to an address, for its error message."""
    address = urlsplit(url)
    proxies = getproxies_environment()
    path = os.environ.get("SSL_CERT_FILE")
    scheme = next((scheme for scheme in (address.scheme, "all") if proxies.get(scheme)), None)
    proxied = scheme and not proxy_bypass_environment(address.hostname or "", proxies)
    certificates = path and address.scheme == "https" and not Path(path).is_file()
    return (f", through the proxy in {_set(f'{scheme}_proxy')[0]}" if proxied else "") + (
        ", while SSL_CERT_FILE names no file" if certificates else ""
    )


def _set(name: str) -> list[str]:
    """The variables of this name that are set, in any case."""
    return [spelled for spelled, value in os.environ.items() if spelled.lower() == name and value]


def _culprit() -> tuple[str, str]:
    """(variable, fix): the first variable that a client cannot be made with; proxies' values may hold a password."""
    import httpx

    for name in (spelled for proxy in PROXIES for spelled in _set(proxy)):
        address = os.environ[name]
        try:
            httpx.Client(proxy=address if "://" in address else f"http://{address}", trust_env=False).close()
        except (ImportError, ValueError, httpx.InvalidURL):
            return name, "a proxy of the form http://host:port, or unset it"
    if path := os.environ.get("SSL_CERT_FILE"):
        try:
            ssl.create_default_context(cafile=path)
        except OSError:
            return "SSL_CERT_FILE", f"an existing file of certificates in place of {path}, or unset it"
    hosts = (_set("no_proxy") or ["the proxy variables"])[0]
    return hosts, "host names and addresses without brackets and without masks, e.g. localhost,127.0.0.1,::1"
