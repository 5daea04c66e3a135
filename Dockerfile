# Benchwright with all extras, for a user that is not root: docs/releasing.md says how it is built and started.
# BASE is any image with Python 3.11 or newer as `python`; bubblewrap is installed by apt-get if it lacks it.
ARG BASE=python:3.13-slim-bookworm

# Exactly the locked requirements, and Benchwright's wheel. Only the environment goes on to the last image.
FROM ${BASE} AS build
WORKDIR /source
RUN python -m venv /opt/benchwright && python -m venv /opt/build
COPY tests/locked_install.py tests/
COPY requirements/all.txt requirements/release.txt requirements/
# Compiled here, since the user of the image may not write there; a few packages carry templates that do not compile.
RUN /opt/benchwright/bin/python tests/locked_install.py requirements/all.txt \
    && (/opt/benchwright/bin/python -m compileall -q -j 0 /opt/benchwright/lib || true)
RUN /opt/build/bin/python tests/locked_install.py requirements/release.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/build/bin/pyproject-build --no-isolation --wheel --outdir dist \
    && /opt/benchwright/bin/python -m pip install --quiet --no-deps --no-index --compile dist/*.whl

# A small real model behind llama.cpp's server, for compose.yaml: both are packages of the index.
FROM ${BASE} AS model
RUN python -c "import ctypes; ctypes.CDLL('libgomp.so.1')" || (apt-get update --quiet=2 \
    && apt-get install --quiet=2 --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*)
RUN python -m venv /opt/model
COPY tests/locked_install.py tests/
COPY requirements/xllamacpp.txt requirements/
RUN /opt/model/bin/python tests/locked_install.py requirements/xllamacpp.txt
COPY examples/local_model.py /opt/model/
USER 1000:1000
EXPOSE 8000
ENTRYPOINT ["/opt/model/bin/python", "/opt/model/local_model.py", "--host", "0.0.0.0", "--port", "8000"]

FROM ${BASE} AS benchwright
RUN command -v bwrap || (apt-get update --quiet=2 \
    && apt-get install --quiet=2 --yes --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/*)
RUN echo "benchwright:x:1000:1000::/home/benchwright:/bin/sh" >> /etc/passwd \
    && mkdir -p /home/benchwright /data /work \
    && chown 1000:1000 /home/benchwright /data /work
COPY --from=build /opt/benchwright /opt/benchwright
ENV PATH=/opt/benchwright/bin:$PATH HOME=/home/benchwright BENCHWRIGHT_HOME=/data
USER 1000:1000
WORKDIR /work
VOLUME /data
EXPOSE 7345
ENTRYPOINT ["benchwright"]
CMD ["--help"]
