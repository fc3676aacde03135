# One image with the three programs: server (the default), worker, botix.
FROM golang:1.26.0-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ENV CGO_ENABLED=0
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/server ./cmd/worker ./cmd/botix

FROM debian:12.12-slim
# Certificates, because webhooks go to https endpoints.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin botix
COPY --from=build /out/ /usr/local/bin/
USER 10001
EXPOSE 8080
ENTRYPOINT []
CMD ["server"]
