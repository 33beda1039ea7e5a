# Every verb does its own set-up: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# A test run starts hundreds of processes: each would compile the sources anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test check lint types imports format docs screenshots bench soak tools wheel clean
help:
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "mqvitals needs Python 3.11 or later; name one with: make PYTHON=python3.11 ...")'
	@echo "Setting up $(VENV), once; this takes a minute or so" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation --editable .
	@touch $@

# The shipped rules as they were decoded, which every program reads instead of their YAML while nothing has changed.
DECODED := rules/mqvitals_rules/packs/decoded.json
$(DECODED): $(STAMP) $(wildcard rules/mqvitals_rules/packs/*.yaml rules/mqvitals_rules/*/*.py config/mqvitals_config/*/*.py)
	@$(BIN)/python -m mqvitals_rules.ruleset.decoded_packs $@

setup: $(STAMP) $(DECODED) ## set up the virtual environment

demo: $(STAMP) ## watch a simulated queue-sharing group live, get ill and recover
	@$(BIN)/mqvitals demo

test: $(STAMP) ## run the tests
	@$(BIN)/python -u -m pytest -n auto

check: lint types imports test ## everything that must hold before a change lands

lint: $(STAMP) ## style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(STAMP) ## put the style right
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(STAMP) ## types, strict
	@$(BIN)/mypy

imports: $(STAMP) ## the one-way imports
	@$(BIN)/lint-imports

docs: $(STAMP) ## write the generated pages
	@$(BIN)/mqvitals metrics --markdown > docs/metrics.md
	@$(BIN)/mqvitals rules list --markdown > docs/rules.md
	@$(BIN)/mqvitals plan list --markdown > docs/plan.md
	@$(BIN)/python -m mqvitals_config docs/configuration.md
	@$(BIN)/python docs/manual_page.py > docs/mqvitals.1
	@$(BIN)/python docs/console_tables.py docs/console.md
	@$(BIN)/python docs/colour_tables.py docs/screen-design.md
	@$(BIN)/python dashboards/build.py

screenshots: $(STAMP) ## make the pictures of the pages anew, and all screens at three sizes in all themes below build/screenshots
	@$(BIN)/python docs/screenshots.py

# ibmmq is the peer of the PCF benchmark; it stays out of the environment, where it would put generic names on the path.
$(VENV)/peers: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps --target $@ ibmmq

bench: $(VENV)/peers ## benchmarks, each against a named peer
	@PYTHONPATH=$(VENV)/peers $(BIN)/python benchmarks/run.py

soak: $(STAMP) ## all tests, also the long ones: many more examples, seeds, sizes and pairs of parameters, 200 reconnects, 100,000 damaged SMF records and PCF messages
	@$(BIN)/python -u -m pytest -v -n auto --hypothesis-profile soak --timeout 3600 tests

tools: .tools/promtool .tools/amtool .tools/grafana-schema .tools/prometheus .tools/victoria-metrics ## real programs for opt-in tests: promtool, amtool, alertmanager and the judge of Grafana's schema, built with Go; Debian's prometheus and victoria-metrics

# Its module replaces some of those it needs, which "go install" refuses: it is built in a copy.
PROMETHEUS := github.com/prometheus/prometheus@v0.54.1
.tools/promtool:
	@command -v go >/dev/null || { echo "promtool is built with Go, and there is no go here"; exit 2; }
	@mkdir -p .tools && rm -rf .tools/src
	@cp -r "$$(go mod download -json $(PROMETHEUS) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" .tools/src
	@chmod -R u+w .tools/src && cd .tools/src && go build -o ../promtool ./cmd/promtool
	@rm -rf .tools/src

# Debian's looks for its templates in a folder of the system; this one has them within.
ALERTMANAGER := github.com/prometheus/alertmanager@v0.25.0
.tools/amtool:
	@command -v go >/dev/null || { echo "alertmanager is built with Go, and there is no go here"; exit 2; }
	@mkdir -p .tools && rm -rf .tools/src
	@cp -r "$$(go mod download -json $(ALERTMANAGER) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" .tools/src
	@chmod -R u+w .tools/src && cd .tools/src && go build -o ../alertmanager ./cmd/alertmanager && go build -o ../amtool ./cmd/amtool
	@rm -rf .tools/src

SCHEMA := tests/agent/dashboards/grafana_schema
.tools/grafana-schema: $(wildcard $(SCHEMA)/*)
	@command -v go >/dev/null || { echo "the judge of Grafana's schema is built with Go, and there is no go here"; exit 2; }
	@mkdir -p .tools && cd $(SCHEMA) && go build -o $(CURDIR)/$@ .

.tools/prometheus: # the peer of the benchmark of the store, too
	@command -v apt-get >/dev/null || { echo "prometheus is unpacked from a package of Debian, and there is no apt-get here"; exit 2; }
	@mkdir -p .tools/package && cd .tools/package && apt-get download prometheus && dpkg -x prometheus_*.deb .
	@mv .tools/package/usr/bin/prometheus $@ && { test -e .tools/promtool || mv .tools/package/usr/bin/promtool .tools/; }
	@rm -rf .tools/package

.tools/victoria-metrics:
	@command -v apt-get >/dev/null || { echo "victoria-metrics is unpacked from a package of Debian, and there is no apt-get here"; exit 2; }
	@mkdir -p .tools/package && cd .tools/package && apt-get download victoria-metrics && dpkg -x victoria-metrics_*.deb .
	@mv .tools/package/usr/bin/victoria-metrics $@ && rm -rf .tools/package

wheel: $(STAMP) ## test the installed wheel with the sources out of the way
	@sh .ci/wheel

clean:
	rm -rf $(VENV) $(DECODED) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
