"""Puts a backup back over the file that was damaged. Runs on a node; stands alone.

Arguments: its own name, file, backup, size of the damaged file in bytes. A file that has another size by now was written anew by its
owner, and one that is gone was removed by its owner: both are left alone and only the backup is dropped. No backup: there is nothing to
put back.
"""

import os
import sys


def main():
    """The backup is in the same folder, so putting it back is one rename."""
    path, backup, damaged_size = sys.argv[2], sys.argv[3], int(sys.argv[4])
    draft = backup + ".chaos-draft"
    if os.path.exists(draft):
        os.unlink(draft)
    if not os.path.exists(backup):
        return
    if os.path.exists(path) and os.path.getsize(path) == damaged_size:
        os.replace(backup, path)
    else:
        os.unlink(backup)


main()
