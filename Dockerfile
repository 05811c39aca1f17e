# The bot alone: one static binary and the certificates to trust, no shell.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -ldflags "-s -w" -o /reconcilebot ./cmd/reconcilebot

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /reconcilebot /reconcilebot
USER 65532:65532
ENTRYPOINT ["/reconcilebot"]
CMD ["serve", "--config", "/etc/reconcilebot/config.yaml"]
