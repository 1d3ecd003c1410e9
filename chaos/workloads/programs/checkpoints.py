"""Checkpoints that are whole or not there: written beside, synced, renamed, and named by a manifest with their hash."""

import glob
import hashlib
import io
import json
import os
import time


class Damaged(Exception):
    """The file is not what its manifest says."""


class Folder:
    """The checkpoints of one load in one run; those of an earlier run under the same name are not seen."""

    def __init__(self, path, run, keep=3):
        self.path, self.run, self.keep = path, run, keep
        os.makedirs(path, exist_ok=True)

    def save(self, step, state):
        """Writes a checkpoint and its manifest, and removes the oldest beyond ``keep``. Returns the manifest."""
        import torch

        buffer = io.BytesIO()
        torch.save(state, buffer)
        content = buffer.getvalue()
        path = os.path.join(self.path, "step-{:08d}.pt".format(step))
        manifest = {"run": self.run, "step": step, "path": path, "sha256": _hash(content), "bytes": len(content)}
        _write(path, content)
        _write(path[:-3] + ".json", json.dumps(manifest).encode())
        for old in self.manifests()[self.keep :]:
            for name in (old["path"], old["path"][:-3] + ".json"):
                _remove(name)
        return manifest

    def manifests(self):
        """The manifests of this run, newest first; one that cannot be read stands there with its reason."""
        found = []
        for name in sorted(glob.glob(os.path.join(self.path, "step-*.json")), reverse=True):
            path = name[:-5] + ".pt"
            try:
                with open(name) as file:
                    manifest = json.load(file)
                if manifest["run"] == self.run:
                    found.append({**manifest, "path": path})
            except (OSError, ValueError, KeyError, TypeError) as error:
                found.append({"path": path, "step": int(name[-13:-5]), "why": "manifest: {}".format(error)})
        return found

    def load(self, manifest):
        """The state that a manifest names.

        Raises:
            Damaged: the file is missing, has another hash, or cannot be read back.
        """
        import torch

        if "why" in manifest:
            raise Damaged(manifest["why"])
        try:
            with open(manifest["path"], "rb") as file:
                content = file.read()
        except OSError as error:
            raise Damaged(str(error)) from error
        if _hash(content) != manifest["sha256"]:
            raise Damaged("{} bytes with another hash; the manifest says {} bytes".format(len(content), manifest["bytes"]))
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _hash(content):
    return hashlib.sha256(content).hexdigest()


def _write(path, content):
    temporary = "{}.{}.part".format(path, time.monotonic_ns())
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
