"""How well a classifier will do on data it has not seen, and how sure that is."""

import lazy_loader

_attached, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used; the version comes from the installed metadata."""
    if name == "__version__":
        from importlib.metadata import version

        return version("truerisk")
    return _attached(name)
