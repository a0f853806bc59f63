"""What pyproject.toml cannot say: a wheel brings the options, which stand beside the package in the clone."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithOptions(build_py):
    """The package, with a copy of conf/ in it, where secateur.library.options looks for it."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            ignore = shutil.ignore_patterns("__pycache__", "local.yaml")
            shutil.copytree("conf", Path(self.build_lib) / "secateur" / "_conf", dirs_exist_ok=True, ignore=ignore)


setup(cmdclass={"build_py": WithOptions})
