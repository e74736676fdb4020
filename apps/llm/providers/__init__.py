"""Chat models: through OpenAI's wire format, through Anthropic's, and out of a script."""
