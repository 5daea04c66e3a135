"""Google's Gemini (generateContent), said as chat completions and back."""
