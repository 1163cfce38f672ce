# A server for one model: docker build -t tickets --build-arg MODEL=tickets.skcamel . && docker run -p 8000:8000 -e SKCAMEL_TOKEN tickets
# docs/serving.md says more. Its RUN steps are tested without docker by tests/container.py.

FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/skcamel
RUN /opt/skcamel/bin/pip install --no-cache-dir ".[serve]" "skops>=0.14"

FROM python:3.13-slim
ARG MODEL=model.skcamel
# One thread of BLAS for each prediction: requests are many and small.
ENV PATH=/opt/skcamel/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
COPY --from=build /opt/skcamel /opt/skcamel
COPY ${MODEL} /srv/model.skcamel
USER 65534:65534
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=2)"]
STOPSIGNAL SIGTERM
CMD ["skcamel", "serve", "/srv/model.skcamel", "--host", "0.0.0.0"]
