"""The likely number of tokens of a text, without the tokenizer of any model."""

BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Return a quarter of the text's UTF-8 bytes, rounded up; 0 for an empty text.

    Spec 002 uses an `estimateTokens` without defining it. Bytes rather than letters, because a letter outside
    ASCII costs a model more than an English one.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
