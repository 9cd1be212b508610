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
    && useradd --create-home hmstats \
    && mkdir /warehouse && chown hmstats /warehouse
USER hmstats
WORKDIR /home/hmstats
EXPOSE 9083
ENTRYPOINT ["hmstats"]
CMD ["serve"]
