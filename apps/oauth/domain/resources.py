"""The addresses of MCP for which an app can sign in (RFC 8707)."""

from urllib.parse import quote, unquote, urlsplit

MCP = "/mcp"
OF_PROJECT = f"{MCP}/p/"
MAX_PROJECT_CHARS = 200


def resource_of(address: str, project: str = "") -> str:
    """Return the resource of a project, or of all. address: of the hub."""
    return f"{address}{OF_PROJECT}{quote(project, safe='')}" if project else f"{address}{MCP}"


def read_resource(named: str, address: str) -> str | None:
    """Return the resource that a client named in the one way it is written; None where it is none of this hub."""
    try:
        parts, own = urlsplit(named), urlsplit(address)
        same = (parts.scheme.lower(), parts.hostname, parts.port) == (own.scheme, own.hostname, own.port)
    except ValueError:
        return None
    path = parts.path.rstrip("/")
    if not same or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    if path == MCP:
        return resource_of(address)
    project = unquote(path.removeprefix(OF_PROJECT))
    is_project = path.startswith(OF_PROJECT) and "/" not in path.removeprefix(OF_PROJECT)
    return resource_of(address, project) if is_project and 0 < len(project) <= MAX_PROJECT_CHARS else None


def project_of(resource: str) -> str:
    """Return the project of a resource, "" for all."""
    _, found, name = resource.partition(OF_PROJECT)
    return unquote(name) if found else ""
