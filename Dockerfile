# A study server, or any other command: docker build -t equipoise .
#
# The program is built with the toolchain and runs without it, as nobody in particular, on a file system it cannot write to but for
# the volume with the study.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
# With studies in PostgreSQL; a log in a file works as well.
RUN cargo build --locked --release --package equipoise-cli --features postgres

FROM debian:bookworm-slim
RUN useradd --system --no-create-home --uid 10001 equipoise \
    && install --directory --owner=equipoise --group=equipoise /study
COPY --from=build /source/target/release/equipoise /usr/local/bin/equipoise
USER 10001
WORKDIR /study
VOLUME ["/study"]
EXPOSE 8080
STOPSIGNAL SIGINT
# The server answers 503 where its log takes no rows. There is no client in the image, so bash speaks HTTP.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["equipoise"]
CMD ["study", "serve", "/study", "--listen", "0.0.0.0:8080"]
