"""The variable that names the folder in which worker processes keep their metrics, as prometheus_client reads it."""

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
