"""Translation of Anthropic's Messages into chat completions and back."""
