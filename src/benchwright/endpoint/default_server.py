"""The server that commands use without a base URL. A module of its own, as `--help` needs it at once."""

LOCAL_SERVER = "http://localhost:8000/v1"
