"""The only place that knows paramiko, fabric and sockets."""
