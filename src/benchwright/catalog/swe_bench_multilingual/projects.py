"""The projects of SWE-bench Multilingual, grouped by language in the authors' way."""

from __future__ import annotations

_PROJECTS = {
    "C": ("jqlang/jq", "micropython/micropython", "redis/redis", "valkey-io/valkey"),
    "C++": ("fmtlib/fmt", "nlohmann/json"),
    "Go": (
        *("caddyserver/caddy", "gin-gonic/gin", "gohugoio/hugo", "hashicorp/terraform"),
        "prometheus/prometheus",
    ),
    "Java": (
        *("apache/druid", "apache/lucene", "google/gson", "javaparser/javaparser"),
        *("projectlombok/lombok", "reactivex/rxjava"),
    ),
    "JavaScript/TypeScript": (
        *("axios/axios", "babel/babel", "facebook/docusaurus", "immutable-js/immutable-js"),
        *("mrdoob/three.js", "preactjs/preact", "vuejs/core"),
    ),
    "PHP": (
        *("briannesbitt/carbon", "laravel/framework", "php-cs-fixer/php-cs-fixer"),
        "phpoffice/phpspreadsheet",
    ),
    "Ruby": (
        *("faker-ruby/faker", "fastlane/fastlane", "fluent/fluentd", "jekyll/jekyll", "jordansissel/fpm"),
        "rubocop/rubocop",
    ),
    "Rust": (
        *("astral-sh/ruff", "burntsushi/ripgrep", "nushell/nushell", "sharkdp/bat", "tokio-rs/axum"),
        *("tokio-rs/tokio", "uutils/coreutils"),
    ),
}

PROJECT_LANGUAGES = {project: language for language, projects in _PROJECTS.items() for project in projects}
"""Mapping from a project's name in lower case to its language."""
