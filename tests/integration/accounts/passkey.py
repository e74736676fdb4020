"""A passkey as a browser would have registered it."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import sha256, websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

KEY_ID = bytes(range(32))


def registration(host: str = "localhost") -> dict[str, Any]:
    """Return the answer of an authenticator to the registration of a new key, as allauth keeps it."""
    key = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    credential = AttestedCredentialData.create(bytes(16), KEY_ID, key)
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV | AuthenticatorData.FLAG.AT
    data = AuthenticatorData.create(sha256(host.encode()), flags, 0, credential)
    said = CollectedClientData.create(CollectedClientData.TYPE.CREATE, b"challenge", f"https://{host}")
    return {
        "id": websafe_encode(KEY_ID),
        "rawId": websafe_encode(KEY_ID),
        "type": "public-key",
        "clientExtensionResults": {"credProps": {"rk": True}},
        "response": {
            "clientDataJSON": websafe_encode(bytes(said)),
            "attestationObject": websafe_encode(bytes(AttestationObject.create("none", data, {}))),
        },
    }
