"""Operators that do something to the machine before rows come: download a file, unpack an archive."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

from typing_extensions import override

from proctor.data import bounds, web
from proctor.data.operator import SideEffectOperator
from proctor.effects import Effect, asking, reading, writing
from proctor.errors import DataError
from proctor.safe_files import subfolder, written


class DownloadOperator(SideEffectOperator):
    """Downloads a file.

    Attributes:
        source: Its address.
        target: The path to save it under; a file that is there is replaced when all of it came.
    """

    source: str
    target: str

    @override
    def effects(self) -> Iterable[Effect]:
        return [*asking(self.source, self.type_name()), *writing(self.target, self.author, self.type_name())]

    @override
    def process(self) -> None:
        if not self.source.startswith(("http://", "https://")):
            raise DataError(f"'{self.source}' cannot be downloaded", why="the address is not http or https")
        self.act()
        try:
            with web.opened(self.source, self.author, self.type_name()) as response, written(self.target) as file:
                web.copy(response, file, source=self.source)
        except OSError as error:
            raise DataError(f"'{self.source}' cannot be downloaded", why=str(error)) from error


class ExtractZipFile(SideEffectOperator):
    """Unpacks a zip file into a folder."""

    zip_file: str
    target_dir: str

    @override
    def effects(self) -> Iterable[Effect]:
        return [
            *reading(self.zip_file, self.author, self.type_name()),
            *writing(self.target_dir, self.author, self.type_name()),
        ]

    @override
    def process(self) -> None:
        self.act()
        try:
            with zipfile.ZipFile(self.zip_file) as archive:
                self._check_size(archive)
                for member in archive.infolist():
                    _extract(archive, member, self.target_dir)
        except (OSError, zipfile.BadZipFile) as error:
            raise DataError(f"'{self.zip_file}' cannot be unpacked", why=str(error)) from error

    def _check_size(self, archive: zipfile.ZipFile) -> None:
        """Refuse an archive that says it is a bomb; one that lies about its sizes is not read beyond them."""
        total = sum(each.file_size for each in archive.infolist())
        packed = Path(self.zip_file).stat().st_size
        if total > max(bounds.SMALL_BYTES, min(bounds.MOST_RATIO * packed, web.FILE_BYTES)):
            raise DataError(
                f"'{self.zip_file}' would unpack to {total >> 20} MiB",
                why=f"it has {packed >> 10} KiB itself, and {bounds.MOST_RATIO} times as much is the limit",
                hint="unpack it yourself if it is what you want",
            )


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: str) -> None:
    """Unpack one file or folder; links that lie in the target are not followed, and what names places above is not."""
    names = [name for name in member.filename.replace("\\", "/").split("/") if name not in ("", ".", "..")]
    if member.is_dir():
        subfolder(target, *names)
    elif names:
        folder = subfolder(target, *names[:-1])
        with archive.open(member) as packed, written(folder / names[-1]) as file:
            shutil.copyfileobj(packed, file)
