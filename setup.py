"""What pyproject.toml cannot say: a wheel brings the options and the stages, which stand beside the package in the clone."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PARTS = ("conf", "scripts")  # found by secateur.library.stages


class WithOptions(build_py):
    """The package, with copies of those folders in it."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            own = Path(self.build_lib) / "secateur" / "_pipeline"
            for part in PARTS:
                ignore = shutil.ignore_patterns("__pycache__", "local.yaml")
                shutil.copytree(part, own / part, dirs_exist_ok=True, ignore=ignore)


setup(cmdclass={"build_py": WithOptions})
