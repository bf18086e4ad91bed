# Everything needs Python 3.11 or newer and make; the environment is made here, from the locked lists.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: demo quick test test-long check site dist test-broker test-compaction-broker test-slow test-generated test-mutations test-kills test-compiled test-cluster test-stores test-pythons fuzz renew new-command lock clean

$(VENV)/.run: requirements/run.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --require-hashes -r requirements/run.lock
	$(BIN)/pip install -q --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	$(BIN)/pip install -q --require-hashes -r requirements/dev.lock
	@touch $@

demo: $(VENV)/.run ## set up and read a real broker's data directory
	@BIN=$(BIN) sh examples/demo.sh

QUICK := tests/rooms tests/engine tests/configuration tests/pages/test_salvage.py tests/pages/test_verification.py \
	tests/pages/test_broker_reader.py tests/pages/test_rare_message_forms.py tests/property/test_codec_properties.py \
	tests/property/test_page_cuts_and_flips.py tests/golden/test_record_golden.py tests/golden/test_damage_table.py \
	tests/cli/test_command_tree.py tests/cli/test_error_lines.py
quick: $(VENV)/.dev ## after each edit, under a minute: style, types, imports, and the quick tests of each kind
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(PYTEST) -n 2 $(QUICK) --ignore tests/rooms/test_package.py --ignore tests/configuration/test_config_effective.py

test: $(VENV)/.dev ## set up and pass the tests
	$(PYTEST) -n 2 --dist worksteal

test-long: $(VENV)/.dev ## the rest of the cases that the tests sample, all generated examples, Spark, stores, kills; a quarter of an hour; a job of its own in CI
	$(PYTEST) -n 2 --dist worksteal --hypothesis-profile=all \
		-m "long or (hypothesis and not broker and not cluster and not stores and not slow and not fuzz)"

check: $(VENV)/.dev ## style, types, imports, unused names, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/vulture
	$(BIN)/codespell

site: $(VENV)/.dev ## build docs/ as a site in build/site
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=.:cli:schemas $(BIN)/mkdocs build --strict --clean -q

dist: $(VENV)/.dev ## sdist and wheel in dist/
	$(BIN)/python -m build --no-isolation

test-broker: $(VENV)/.dev ## against real brokers: Java 17, Maven and the oracle beside the checkout
	$(PYTEST) -m broker

test-compaction-broker: $(VENV)/.dev ## what brokers deliver from compacted and salvaged directories; can be stopped and run again
	$(PYTEST) -m broker tests/broker/test_compaction_broker.py tests/broker/test_salvage_broker.py tests/broker/test_recover_broker.py

test-slow: test-long ## test-long, then exhaustive truncations, bit flips, big inputs
	$(PYTEST) -m slow

test-generated: $(VENV)/.dev ## tests with generated examples, with others each time; ROUNDS=20 for more
	for round in $$(seq $(or $(ROUNDS),5)); do \
		$(PYTEST) -n 2 -m "hypothesis and not broker and not cluster and not stores and not slow" \
			--hypothesis-profile=chance --hypothesis-seed=$$(date +%s) || exit 1; \
	done

test-mutations: $(VENV)/.dev ## 5,000 data directories with something changed; half an hour of one processor
	$(PYTEST) -n 2 -m slow tests/harm/test_mutated_directories.py

test-kills: $(VENV)/.dev ## a hundred kills for each command that writes, at every change and by the clock; an hour
	PAGECTL_HARM_INSTANTS=100 $(PYTEST) -n 2 -m "slow or not slow" tests/harm/test_whole_or_nothing.py

test-cluster: $(VENV)/.dev ## export through a Spark master and worker of its own
	$(PYTEST) -m cluster

test-stores: $(VENV)/.dev ## Google's and Azure's stores, HDFS, YARN and Kubernetes, by programs of others that CONTRIBUTING.md names; half an hour
	$(PYTEST) -m stores -rs

COMPILED := build/compiled
test-compiled: $(VENV)/.dev ## the tests of the engine with the compiled one; needs a C compiler
	rm -rf $(COMPILED) && mkdir -p $(COMPILED) && git ls-files -z | xargs -0 cp --parents -t $(COMPILED)
	cd $(COMPILED) && $(CURDIR)/$(BIN)/python requirements/compile_engine.py
	cd $(COMPILED) && $(CURDIR)/$(BIN)/python -m pytest -n 2 tests/engine tests/golden/test_replay_real_broker.py \
		tests/golden/test_replay_probes.py tests/golden/test_replay_protocols.py tests/property/test_engine_properties.py \
		tests/cli/test_replay_commands.py

test-pythons: $(VENV)/.dev ## the wheel with every other Python that uv finds here (3.11 to 3.14): every command once
	$(PYTEST) -m slow tests/rooms/test_package.py -rs

fuzz: $(VENV)/.dev ## a minute of coverage-guided fuzzing for each codec; SECONDS=600 for more
	$(BIN)/pip install -q --require-hashes -r requirements/fuzz.lock
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),60)

renew: $(VENV)/.dev ## renew what is made: completions/, man/, XSD files, JSON schemas, the table of columns
	$(BIN)/python docs/generators/renew.py

new-command: $(VENV)/.dev ## begin a command: make new-command GROUP=journal NAME=stats LINE="Count records."
	$(BIN)/python docs/generators/new_command.py $(GROUP) $(NAME) "$(LINE)"
	$(MAKE) renew

COMPILE := $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	--python-version 3.11 pyproject.toml
lock: $(VENV)/.dev ## renew the locked lists
	$(COMPILE) requirements/build.in -o requirements/run.lock
	$(COMPILE) requirements/build.in --extra dev -c requirements/run.lock -o requirements/dev.lock
	$(COMPILE) --extra fuzz -c requirements/dev.lock -o requirements/fuzz.lock
	$(COMPILE) --extra amqp -c requirements/dev.lock -o requirements/amqp.lock

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
