"""Every setting of hmstats: unit, default and one sentence each. Source of docs/reference/configuration.md."""

from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from hmstats.secret_files import PREFIX, secrets_in_files
from hmstats.settings.config_file import config_file
from hmstats.settings.upstreams import UpstreamSetting, check_upstreams

MOST_WORKERS = 240
"""A worker gets a file descriptor of each other one in a single message, which on Linux carries 253."""
Seconds = Annotated[float, Field(le=2_000_000)]
"""PostgreSQL and SQLite count the milliseconds of a time limit in 31 bits, which are 24 days."""
Hours = Annotated[float, Field(le=36_500 * 24)]
Days = Annotated[float, Field(le=36_500)]
"""A hundred years: times that are later than the year 9999 cannot be told."""
SECRET = "secret"
"""The kind of a refusal whose value is not told."""


class Settings(BaseSettings):
    """The settings of the server and of the commands."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True)

    host: str = Field("127.0.0.1", description="The address that the server listens on.")
    port: int = Field(9083, ge=0, le=65535, description="The port that the server listens on; 0 takes a free one.")
    database: str = Field(
        "sqlite:///hmstats.sqlite",
        description="The database's URL: sqlite:///FILE (embedded) or postgresql://USER:PASSWORD@HOST:PORT/NAME.",
    )
    hive_site: str | None = Field(
        None,
        description="The hive-site.xml or metastore-site.xml of a Hive Metastore to serve beside: database, warehouse "
        "and notifications are taken from it, unless they are set too.",
    )
    own_schema: str | None = Field(
        None,
        pattern="^[a-z_][a-z0-9_]*$",
        description="The schema of a PostgreSQL database for our own tables; unset: that of the other tables.",
    )
    read_only: bool = Field(
        False,
        description="Whether every call that would change something is refused; a user of PostgreSQL needs the right "
        "to read only, one of SQLite must be able to write the file and its folder.",
    )
    warehouse: str = Field("warehouse", description="The folder or URI where managed tables live.")
    warehouse_roots: Annotated[tuple[str, ...], NoDecode] | None = Field(
        None,
        description="Prefixes of locations, besides the warehouse, where directories of databases and managed tables "
        "are made, moved and removed; * is everywhere. Unset: everywhere if the server listens on loopback only, else "
        "the warehouse alone.",
    )
    trash: bool = Field(
        False,
        description="Whether dropped data goes to Hadoop's trash, where directories are renamed (local, HDFS), unless "
        "it is purged; as in Hadoop, whose fs.trash.interval is 0, the default removes it.",
    )
    metastore: str = Field(
        "thrift://127.0.0.1:9083",
        description="The metastore that commands ask: thrift://HOST:PORT, or thrift+tls://HOST:PORT for an encrypted "
        "connection, or http:// and https:// for HTTP; several separated by commas.",
    )
    upstream: str | None = Field(
        None,
        description="The metastore that all calls without an answer here are relayed to: thrift://HOST:PORT, or "
        "thrift+tls:// for encrypted connections; several addresses of it separated by commas. Unset: the server is a "
        "metastore of its own. Experimental: docs/operate/gateway.md.",
    )
    upstreams: tuple[UpstreamSetting, ...] = Field(
        (),
        description="Several metastores behind this server, in place of upstream: for each a table with its name, its "
        "uris, the database for its statistics, and the patterns of its databases; one of them has no databases and "
        "is the default. Experimental: docs/operate/gateway.md.",
    )
    own_databases: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Patterns of databases that are this server's own beside those of upstreams."
    )
    upstream_ca: str | None = Field(
        None,
        description="The PEM file of the authorities of the upstream's certificate; unset: those of the system.",
    )
    upstream_principal: str | None = Field(
        None,
        description="The upstream's principal in Kerberos, SERVICE/HOST@REALM, where _HOST is the host of its address; "
        "none if it wants no proof. The gateway uses the ticket of its cache, or the keytab that KRB5_CLIENT_KTNAME "
        "names, and must be a proxy user (hadoop.proxyuser) of the upstream. Needs authentication.",
    )
    upstream_connections: int = Field(
        20,
        ge=1,
        le=1_000,
        description="Connections that a worker has to the upstream, each for one call at a time; half as many more may "
        "belong to clients that have called setMetaConf.",
    )
    upstream_connect_seconds: Seconds = Field(
        5.0, gt=0, description="Seconds in which an address of the upstream must take a connection."
    )
    upstream_seconds: Seconds = Field(
        660.0,
        gt=0,
        description="Seconds in which the upstream must answer a relayed call, and send the next part of an answer; it "
        "should be longer than the timeouts of clients.",
    )
    upstream_hanging_seconds: Seconds = Field(
        20.0,
        gt=0,
        description="Seconds in which an address of the upstream answers nothing, not even a small question of the "
        "gateway's own, after which it hangs: calls go to the next address, or are refused at once, until it answers.",
    )
    upstream_answer_bytes: int = Field(
        256 * 1024 * 1024,
        ge=1024,
        le=2**31 - 1,
        description="Bytes of an answer of the upstream that is held until it is whole: for clients over HTTP, in "
        "frames or compact, and for the gateway's own calls; a larger one is refused.",
    )
    upstream_idle_seconds: Seconds = Field(
        60.0, gt=0, description="Seconds after which a connection to the upstream without a call is closed."
    )
    upstream_cache_bytes: int = Field(
        64 * 1024 * 1024,
        ge=0,
        description="Bytes of the upstream's answers about tables that a worker keeps where the upstream's "
        "notification log proves them; 0 keeps none.",
    )
    upstream_writes: Literal["behind", "through", "off"] = Field(
        "behind",
        description="When statistics that are written here are sent to the upstream: after the answer (behind), "
        "before it (through), or never (off).",
    )
    upstream_write_seconds: Seconds = Field(
        5.0, gt=0, description="Seconds between two searches for statistics that must be sent to the upstream."
    )
    token: SecretStr | None = Field(
        None,
        description="The token by which commands prove who they are, to an address http:// or https://; read from the "
        "environment only.",
    )
    client_certificate: str | None = Field(
        None,
        description="The PEM file of the certificate, or of certificate and key, that commands show over TLS; read "
        "from the environment only.",
    )
    client_key: str | None = Field(
        None,
        description="The PEM file of that certificate's key, without a password; read from the environment only.",
    )
    metastore_principal: str | None = Field(
        None,
        description="The Kerberos principal of the metastore, as hive/_HOST@REALM: commands then prove their user by a "
        "ticket to addresses without HTTP; read from the environment only.",
    )
    workers: int | None = Field(
        None,
        ge=1,
        le=MOST_WORKERS,
        description="Processes that share the port; unset: one for each core of the process or container.",
    )
    exclusive: bool | None = Field(
        None,
        description="Whether the server has exclusive use of its database, with one worker, and skips the check for "
        "changes of others. Unset: on for SQLite with one worker, else off.",
    )
    threads: int = Field(8, ge=1, le=256, description="Calls that a worker runs at once, each in a thread.")
    http_port: int | None = Field(
        None, ge=0, le=65535, description="The port of /health/live, /health/ready and /metrics; unset: disabled."
    )
    ready_needs_database: bool = Field(
        False,
        description="Whether /health/ready answers 503 also while the database does not answer, as each worker asks "
        "it every 2 seconds.",
    )
    ready_needs_upstreams: bool = Field(
        False,
        description="Whether /health/ready answers 503 also while an upstream does not answer, as each worker asks it "
        "every 10 seconds.",
    )
    http_page: bool = Field(
        False,
        description="Whether the page of `hmstats web` is on http_port too, as the web_ settings say, in a process of "
        "its own (the extra web).",
    )
    max_connections: int = Field(10_000, ge=1, description="Connections that a worker holds; one more is refused.")
    max_waiting_calls: int = Field(
        1_000, ge=1, description="Calls that may wait in a worker for a thread; one more is refused."
    )
    max_waiting_bytes: int = Field(
        256 * 1024 * 1024,
        ge=1024,
        description="Bytes of calls that may wait in a worker for a thread; a call beyond it is refused.",
    )
    max_message_bytes: int = Field(
        100 * 1024 * 1024, ge=1024, description="The largest message that is read, in bytes."
    )
    max_message_containers: int = Field(
        4_000_000,
        ge=10_000,
        description="The structs, lists, sets and maps that a message may hold; each takes 100 to 300 bytes of memory.",
    )
    max_partial_bytes: int = Field(
        256 * 1024 * 1024,
        ge=1024,
        description="Bytes of partly received messages of a worker; beyond it the large one that began first is "
        "refused.",
    )
    receive_seconds: Seconds = Field(
        60.0, gt=0, description="Seconds in which a message must arrive once it has begun."
    )
    send_seconds: Seconds = Field(
        60.0, gt=0, description="Seconds in which a client must take send_bytes more of its answer, or the rest of it."
    )
    send_bytes: int = Field(64 * 1024, ge=1, description="Bytes of its answer that a client must take in send_seconds.")
    max_unsent_bytes: int = Field(
        256 * 1024 * 1024,
        ge=1024,
        description="Bytes of answers that clients of a worker have not taken; beyond it the slowest client's "
        "connection is closed.",
    )
    tls: Literal["off", "accept", "require"] = Field(
        "off",
        description="Whether the port speaks no TLS (off), TLS and plain (accept), or TLS only (require).",
    )
    tls_certificate: str | None = Field(
        None, description="The PEM file of the server's certificate, its own first, then those that signed it."
    )
    tls_key: str | None = Field(None, description="The PEM file of the certificate's key, which has no password.")
    tls_client_ca: str | None = Field(
        None,
        description="The PEM file of the authorities whose certificates clients must show; unset: not requested.",
    )
    tls_client_crl: str | None = Field(
        None,
        description="The PEM file of the authorities' lists of revoked client certificates; unset: not checked.",
    )
    rules: str | None = Field(None, description="The TOML file of access rules; unset: everybody may do everything.")
    audit: Literal["off", "writes", "all"] = Field(
        "off",
        description="Which calls are recorded by the logger hmstats.audit: none (off), changes and denied calls "
        "(writes), or reads too (all).",
    )
    audit_file: str | None = Field(None, description="The file that audit lines are written to, besides the log.")
    audit_reads_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="The share of reads that audit = all records; all changes and denied calls are recorded.",
    )
    audit_table_days: Days = Field(
        0.0,
        ge=0,
        description="Days that audit records are stored in the database too, for `hmstats audit`; 0 disables it.",
    )
    authentication: tuple[Literal["certificate", "token", "jwt", "password", "kerberos"], ...] = Field(
        (),
        description="How clients prove who they are, a JSON list of: certificate, token, jwt, password, kerberos. "
        "Empty: the name that a client states is believed.",
    )
    unencrypted_secrets: bool = Field(
        False,
        description="Whether tokens and passwords are also taken without TLS from other machines, as behind a proxy "
        "that ends TLS.",
    )
    jwt_jwks: str | None = Field(
        None, description="The public keys of an identity provider's tokens: a file, or an https address."
    )
    jwt_issuer: str | None = Field(
        None, description="The claim iss that a provider's tokens must have; unset: not checked."
    )
    jwt_audience: str | None = Field(
        None, description="A value that the claim aud of a provider's tokens must have; unset: not checked."
    )
    jwt_user_claim: str = Field("sub", description="The claim of a provider's tokens that is the user.")
    jwt_groups_claim: str = Field("groups", description="The claim of a provider's tokens that lists the groups.")
    password_file: str | None = Field(
        None, description="The file of users with hashes of their passwords, lines that `hmstats password` makes."
    )
    ldap_url: str | None = Field(
        None,
        description="The LDAP directory that checks passwords, in place of password_file: ldap://HOST[:PORT], always "
        "with StartTLS, or ldaps://HOST[:PORT].",
    )
    ldap_user_dn: str | None = Field(
        None, description="The DN of a user in the directory, as uid={user},ou=people,dc=example,dc=org."
    )
    ldap_user_base: str | None = Field(
        None, description="The DN below which users are searched for by ldap_user_filter, in place of ldap_user_dn."
    )
    ldap_user_filter: str = Field(
        "(uid={user})",
        description="The filter that finds one user's entry, as (&(objectClass=user)(sAMAccountName={user})).",
    )
    ldap_user_attribute: str = Field(
        "uid", pattern="^[A-Za-z][A-Za-z0-9-]*$", description="The attribute of a found entry that is the user's name."
    )
    ldap_bind_dn: str | None = Field(
        None, description="The DN of the account that searches; unset: an anonymous search."
    )
    ldap_bind_password_file: str | None = Field(
        None, description="The file whose first line is the password of ldap_bind_dn."
    )
    ldap_group_dn: str | None = Field(
        None,
        description="The DN of groups, as cn={group},ou=groups,dc=example,dc=org: values of this form in a user's "
        "memberOf are its groups; unset: not read.",
    )
    ldap_group_base: str | None = Field(
        None,
        description="The DN below which a user's groups are searched for by ldap_group_filter, in place of "
        "ldap_group_dn.",
    )
    ldap_group_filter: str = Field(
        "(member={dn})",
        description="The filter that finds a user's groups, by its DN {dn} or its name {user}, as (memberUid={user}).",
    )
    ldap_group_attribute: str = Field(
        "cn", pattern="^[A-Za-z][A-Za-z0-9-]*$", description="The attribute of a found group that is its name."
    )
    ldap_ca: str | None = Field(
        None,
        description="The PEM file of the directory's authorities; unset: those of OpenLDAP's ldap.conf, and with "
        "ldaps:// those of the system.",
    )
    ldap_seconds: Seconds = Field(
        5.0, gt=0, description="Seconds in which the directory must take a connection, and then give its answers."
    )
    ldap_cache_seconds: Seconds = Field(
        60.0, ge=0, description="Seconds for which a worker caches a proven password; 0 disables the cache."
    )
    kerberos_keytab: str | None = Field(None, description="The keytab with the key of kerberos_principal.")
    kerberos_principal: str | None = Field(
        None, description="The server's principal, SERVICE/HOST@REALM; _HOST is this machine's full name in lower case."
    )
    kerberos_rules: str = Field(
        "DEFAULT",
        description="The user of a Kerberos principal, as the rules of Hadoop's hadoop.security.auth_to_local.",
    )
    delegation_token_days: Days = Field(
        7.0,
        gt=0,
        description="Days after which a delegation token that a user of Kerberos has asked for ends, however often it "
        "is renewed.",
    )
    delegation_token_renew_hours: Hours = Field(
        24.0, gt=0, description="Hours that a delegation token lasts from its issue, and from each renewal."
    )
    proxy_users: dict[str, dict[str, tuple[str, ...]]] = Field(
        {},
        description="Who may act as others, and from where: a JSON object of user to `users`, patterns with * and ?, "
        "and `hosts`, addresses, networks or *.",
    )
    protection: Literal["authentication", "integrity", "privacy"] = Field(
        "authentication",
        description="The least protection of a connection by Kerberos: the proof of its user alone (authentication), "
        "against changes (integrity), or encryption (privacy). TLS satisfies each.",
    )
    certificate_user: Literal["cn", "san"] = Field(
        "cn",
        description="The user of a client's certificate: its common name (cn), or its alternative name (san).",
    )
    handshake_seconds: Seconds = Field(
        10.0,
        gt=0,
        description="Seconds in which a TLS handshake must be done; if TLS or authentication is required, both, since "
        "the connection began.",
    )
    max_handshakes: int = Field(
        1_000,
        ge=1,
        description="Connections of a worker whose TLS handshake or authentication is not done; one more closes the "
        "one that has waited longest, of the address that has the most.",
    )
    idle_seconds: Seconds | None = Field(
        None, gt=0, description="Seconds after which a connection without a request is closed; unset: never."
    )
    call_seconds: Seconds = Field(300.0, gt=0, description="Seconds after which a call is answered with an error.")
    statement_seconds: Seconds = Field(60.0, gt=0, description="Seconds after which the database cancels a statement.")
    busy_poll_seconds: float = Field(
        0.0002,
        ge=0,
        le=1,
        description="Seconds in which a worker polls for a busy client's next request before it sleeps; 0 disables it "
        "and saves CPU time.",
    )
    drain_seconds: Seconds = Field(
        30.0, ge=0, description="Seconds that running calls have to end when the server stops."
    )
    web_host: str = Field("127.0.0.1", description="The address that the page listens on.")
    web_port: int = Field(9088, ge=0, le=65535, description="The port that the page listens on; 0 takes a free one.")
    web_names: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Names of the host by which browsers reach the page, besides localhost, web_host and addresses; a "
        "request for another name is refused.",
    )
    web_writes: bool = Field(
        False, description="Whether the page allows changes: restores, locks, and what is pending."
    )
    web_tls_certificate: str | None = Field(
        None, description="The PEM file of the page's certificate, with those that signed it; unset: plain HTTP."
    )
    web_tls_key: str | None = Field(
        None, description="The PEM file of its key, without a password; unset: the key is in the certificate's file."
    )
    client_seconds: Seconds = Field(120.0, gt=0, description="Seconds that a command waits for a metastore's answer.")
    patience_seconds: Seconds = Field(
        300.0,
        ge=0,
        description="Seconds for which analyze and push retry calls to a metastore that is unreachable or slow.",
    )
    spool: str | None = Field(
        None,
        description="The folder or URI for computed statistics that cannot be delivered. Unset: `hmstats-spool` in the "
        "working directory if Spark runs on one machine.",
    )
    keep_accuracy: bool = Field(
        True,
        description="Whether written columns are marked in COLUMN_STATS_ACCURATE, as Hive 3 and 4 do.",
    )
    any_engine: bool = Field(
        True, description="Whether statistics of another engine answer when the asked engine has none."
    )
    send_sketches: bool = Field(
        False, description="Whether answers carry bit vectors and histograms, 4 kB for each column and partition."
    )
    most_partitions_listed: int | None = Field(
        None, ge=1, description="The most partitions that one call may list; a call for more is refused."
    )
    answers_bytes: int = Field(
        32 * 1024 * 1024,
        ge=0,
        description="Size of each worker's cache of encoded answers, in bytes; 0 disables it.",
    )
    objects_bytes: int = Field(
        32 * 1024 * 1024,
        ge=0,
        description="Size of each worker's cache of encoded column statistics, and of that of partitions and "
        "blocks of numbers, in bytes; 0 disables both.",
    )
    notifications: bool = Field(
        True, description="Whether every change is written to the notification log, which some engines follow."
    )
    notification_retention_hours: Hours = Field(
        24.0, gt=0, description="Hours after which an event is removed from the notification log."
    )
    running_write_retention_hours: Hours = Field(
        24.0,
        gt=0,
        description="Hours after which the partial statistics of a write are removed if it has added nothing more.",
    )
    history_days: int = Field(
        31, ge=0, le=36_500, description="Days for which every version of statistics is kept; 0 keeps no history."
    )
    history_thinned_days: int = Field(
        366, ge=0, le=36_500, description="Days for which one version of statistics a day is kept after that."
    )
    canary: str = Field(
        "",
        description="Clients that plan with pending statistics, separated by commas: user:NAME (or a group), "
        "address:IP or address:NETWORK, share:FRACTION of all connections, with or without ' until TIME'.",
    )
    refuse_locked_writes: bool = Field(
        False,
        description="Whether locked statistics refuse writes with an error, unless the lock says otherwise; else "
        "writes are accepted and dropped.",
    )
    lock_timeout_seconds: Seconds = Field(
        300.0, gt=0, description="Seconds after which a lock or a transaction without a heartbeat is lost."
    )
    listing_seconds: Seconds = Field(
        5.0,
        ge=0,
        description="Seconds in which the files of tables and partitions that a call changes are counted; if it takes "
        "longer the counts are unknown. 0 disables it.",
    )
    statistics_from_partitions: bool = Field(
        True,
        description="Whether statistics of a partitioned table without its own are merged from its partitions.",
    )
    spark_statistics: Literal["never", "spark", "always"] = Field(
        "spark",
        description="Which connections get column statistics as the parameters that Spark's optimizer reads: none "
        "(never), those of spark_names (spark), or all (always).",
    )
    spark_names: str = Field(
        "spark",
        description="Users and groups, separated by commas, whose connections are Spark's.",
    )
    ndv_density_function: bool = Field(
        False,
        description="Whether distinct values of partitions without bit vectors are estimated by their density "
        "(hive.metastore.stats.ndv.densityfunction).",
    )
    ndv_tuner: float = Field(
        0.0,
        ge=0,
        le=1,
        description="The estimate otherwise: 0 is the largest partition's number, 1 the sum of all "
        "(hive.metastore.stats.ndv.tuner).",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The lowest level of log lines: debug to error."
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_number_from_a_flag(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuses true and false for numbers, which pydantic takes for 1 and 0."""
        kind = cls.model_fields[info.field_name or ""].annotation
        kinds = {kind, *get_args(kind)}
        if isinstance(value, bool) and bool not in kinds and kinds & {int, float}:
            raise PydanticCustomError("number", "Input should be a number")
        return value

    @field_validator("upstreams")
    @classmethod
    def _one_default(cls, value: tuple[UpstreamSetting, ...]) -> tuple[UpstreamSetting, ...]:
        """Refuses upstreams that do not go together."""
        wrong = check_upstreams(value)
        if wrong is not None:
            raise PydanticCustomError("upstreams", "{wrong}", {"wrong": wrong})
        if any(has_password(address) for each in value for address in each.uris.split(",")):
            raise PydanticCustomError(SECRET, "an address must have no password in it: others can read it")
        return value

    @field_validator("warehouse_roots", "web_names", "own_databases", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        """Splits a text at its commas, for settings that are lists."""
        return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value

    @field_validator("warehouse", "warehouse_roots", "metastore", "upstream", "jwt_jwks", "ldap_url")
    @classmethod
    def _without_password(cls, value: Any) -> Any:
        """Refuses a password in an address that answers, logs and tables show."""
        texts = value.split(",") if isinstance(value, str) else value or ()
        if any(map(has_password, texts)):
            raise PydanticCustomError(SECRET, "an address must have no password in it: others can read it")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then files with secrets, then the TOML file."""
        del dotenv_settings, file_secret_settings
        secrets = InitSettingsSource(settings_cls, dict(secrets_in_files()))
        return init_settings, env_settings, secrets, TomlConfigSettingsSource(settings_cls, config_file())


def has_password(address: str) -> bool:
    """Whether a URL has a password in it; a text that is no URL is taken for one that has if it has an @."""
    try:
        return urlsplit(address).password is not None
    except ValueError:
        return "@" in address
