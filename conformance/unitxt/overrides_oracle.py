"""Runs inside an environment with Unitxt: prints the methods that each of its classes of artifacts defines, as JSON."""

import inspect
import json
import logging

logging.disable(logging.CRITICAL)


def main() -> None:
    """Print the version, and names of methods by name of class."""
    import unitxt
    from unitxt.artifact import Artifact
    from unitxt.settings_utils import get_constants

    found = {}
    waiting = [Artifact]
    while waiting:
        cls = waiting.pop()
        waiting.extend(cls.__subclasses__())
        if cls.__module__.partition(".")[0] == unitxt.__name__:
            found[cls.__name__] = [name for name, value in vars(cls).items() if _is_method(name, value)]
    print(json.dumps({"version": get_constants().version, "methods": found}))


def _is_method(name, value):
    is_method = inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod, property))
    return is_method and not name.startswith(("__", "_abc"))


if __name__ == "__main__":
    main()
