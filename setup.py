"""What pyproject.toml cannot say: a wheel brings what stands beside the package in the clone: options, rules, stages, toy data."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, "workflow")  # a build stands in the root, and knows no package yet
from secateur.core.workspace import PARTS

UNSEEN = shutil.ignore_patterns("__pycache__", "local.yaml")


class WithClone(build_py):
    """The package, with a copy of PARTS in it, where secateur.core.workspace looks for them."""

    def run(self) -> None:
        super().run()
        for part in () if self.editable_mode else PARTS:
            target = Path(self.build_lib) / "secateur" / "_clone" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if Path(part).is_dir():
                shutil.copytree(part, target, dirs_exist_ok=True, ignore=UNSEEN)
            else:
                shutil.copyfile(part, target)


setup(cmdclass={"build_py": WithClone})
