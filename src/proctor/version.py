"""The version of the package as it is installed; that of a checkout that was not is the last one released."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("proctor")
except PackageNotFoundError:
    __version__ = "0.1.0"
