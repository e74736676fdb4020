"""What a page of the hub may load, run and use: headers of each answer (docs/operate/security.md)."""

SELF, NONE = "'self'", "'none'"

# Scripts and styles are files of this hub: none is written into a page, and no text becomes code.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "connect-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "manifest-src": [SELF],
        "worker-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    },
}

# The clipboard takes a new key, and passkeys sign in. No page uses anything else of a device.
USED = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
UNUSED = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "idle-detection", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS_POLICY = ", ".join([*(f"{name}=(self)" for name in USED), *(f"{name}=()" for name in UNUSED)])
