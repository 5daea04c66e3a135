"""The server that commands use without a base URL. It is a module of its own so that `--help` loads fast."""

LOCAL_SERVER = "http://localhost:8000/v1"
