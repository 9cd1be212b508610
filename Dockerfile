# The server alone: no Spark, no Java.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY thrift thrift
COPY migrations migrations
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY constraints.txt /tmp/
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt /wheels/*.whl \
    && useradd --create-home --uid 1000 hmstats \
    && mkdir /data /warehouse && chown hmstats /data /warehouse
# Clients are outside of the container. What must outlive it is in the volumes: the SQLite file and the warehouse.
ENV HMSTATS__HOST=0.0.0.0 \
    HMSTATS__DATABASE=sqlite:////data/hmstats.sqlite \
    HMSTATS__WAREHOUSE=/warehouse
VOLUME ["/data", "/warehouse"]
USER hmstats
WORKDIR /home/hmstats
EXPOSE 9083
HEALTHCHECK --start-period=30s CMD ["hmstats", "ping"]
ENTRYPOINT ["hmstats"]
CMD ["serve"]
