"""The server that commands use without a base URL. This is a separate module so that `--help` loads fast."""

LOCAL_SERVER_URL = "http://localhost:8000/v1"
