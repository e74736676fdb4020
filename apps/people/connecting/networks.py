"""The networks that requests for keys are counted by."""

import ipaddress

# A device has as many addresses as it likes within 64 bits of IPv6, and a line of a provider up to 48 bits.
CLIENT_BITS = {4: 32, 6: 64}
BLOCK_BITS = {4: 24, 6: 48}


def networks_of(address: str) -> tuple[str, str]:
    """Return the network of one client, and the wider block that one party may have, of an address as text."""
    read = ipaddress.ip_address(address)
    client, block = (
        ipaddress.ip_network((read, bits[read.version]), strict=False) for bits in (CLIENT_BITS, BLOCK_BITS)
    )
    return str(client.network_address), str(block.network_address)
