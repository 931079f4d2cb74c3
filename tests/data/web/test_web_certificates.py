"""Over https the certificate must be that of the name, though the connection is made to an address."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from web_servers import ARTICLE, Site, html, page, quick

from berdseye.data.web.fetch import fetch_pages

x509 = pytest.importorskip("cryptography.x509")


def certificate(folder: Path, host: str) -> Path:
    """A self-signed certificate for a host, with its key, in one file."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


def test_the_host_name_is_sent_and_checked(
    public: Site, names: dict[str, list[list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate(tmp_path, "shop.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    told: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: told.append(name)
    public.server.socket = context.wrap_socket(public.server.socket, server_side=True)
    public.replies["/"] = html(ARTICLE)
    names |= {"shop.example": [[public.host]], "bank.example": [[public.host]]}
    urls = [f"https://{host}:{public.port}/" for host in ("shop.example", "bank.example")]

    assert {found.reason for found in fetch_pages(urls, quick(allow_private=False))} == {
        "failed"
    }  # signed by nobody known
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    shop, bank = sorted(fetch_pages(urls, quick(allow_private=False)), key=lambda found: found.reason, reverse=True)
    assert (shop.url, shop.html) == (urls[0], page(ARTICLE))
    assert (bank.url, bank.reason) == (urls[1], "failed")
    assert "certificate" in bank.detail.lower()
    assert set(told) == {"shop.example", "bank.example"}
