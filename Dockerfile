# An image with the static binary alone. Mount the folder of the data at /data.
#   docker build -t noren .
#   docker run --rm -v "$PWD:/data" noren anonymize visits.csv -o out.csv --spec noren.yaml
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /noren ./cmd/noren \
 && mkdir -m 1777 /empty

FROM scratch
COPY --from=build /noren /noren
COPY --from=build --chown=65532:65532 /empty /tmp
COPY --from=build --chown=65532:65532 /empty /data
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/noren"]
