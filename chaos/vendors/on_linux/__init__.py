"""What the Linux kernel offers on every node, one file per ability."""
