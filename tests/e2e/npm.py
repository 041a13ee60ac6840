"""What a test needs of npm, once for each build folder."""

import shutil
import subprocess

from harness import BUILD


def installed(source):
    """A folder in the build with what the lock file of that folder says, and its scripts; after the first time without
    the network."""
    folder = BUILD / "tests" / source.name
    lock = source / "package-lock.json"
    if not (folder / "node_modules").is_dir() or (folder / "package-lock.json").read_bytes() != lock.read_bytes():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(source / "package.json", folder)
        shutil.copy(lock, folder)
        done = subprocess.run(["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"], cwd=folder, timeout=120,
                              capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder)
        assert done.returncode == 0, done.stdout + done.stderr
    for script in source.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder
