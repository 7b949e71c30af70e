# An image with the static binary alone, run as a user without privileges.
#   CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o noren ./cmd/noren
#   docker build -t noren .
#   docker run --rm -u "$(id -u)" -v "$PWD:/data" noren anonymize visits.csv -o out.csv --spec noren.yaml
FROM scratch
COPY noren /noren
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/noren"]
