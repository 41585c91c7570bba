// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// sarif-judge.js DIR FILE... - whether each file is SARIF 2.1.0: by the schema in DIR, where ci-schemas put it, and by rules of the
// specification that a schema cannot state. Prints what is wrong.
const fs = require("fs");
const [dir, ...files] = process.argv.slice(2);
const read = path => JSON.parse(fs.readFileSync(path, "utf8"));
const Ajv = require(fs.realpathSync(dir + "/ajv/dist/ajv.bundle.js"));
const ajv = new Ajv({ meta: false, schemaId: "id", allErrors: true });
ajv.addMetaSchema(read(dir + "/ajv/lib/refs/json-schema-draft-04.json"));
const fits = ajv.compile(read(dir + "/sarif/lib/schemas/sarif-2.1.0-rtm.5.json"));

let wrong = 0;
function check(holds, what) {
	if (!holds) {
		console.log(what);
		wrong++;
	}
}

function checkUri(uri) {
	check(/^(file:\/\/\/)?([A-Za-z0-9._~\/-]|%[0-9A-F]{2})+$/.test(uri), "no URI: " + uri);
	check(!uri.startsWith("/") && !uri.startsWith("./"), "neither relative nor file: " + uri);
}

function checkResult(result, rules) {
	check(rules[result.ruleIndex] && rules[result.ruleIndex].id === result.ruleId, "ruleIndex and ruleId differ");
	check(result.locations.length === 1, "GitHub demands a location of each result");
	check(result.partialFingerprints["ctpFinding/v1"].length === 16, "no fingerprint");
	for (const place of [...result.locations, ...result.relatedLocations])
		if (place.physicalLocation)
			checkUri(place.physicalLocation.artifactLocation.uri);
	const ids = result.relatedLocations.map(place => place.id);
	check(new Set(ids).size === ids.length, "ids of places are not unique");
}

for (const file of files) {
	const log = read(file);
	check(fits(log), file + ": " + JSON.stringify(fits.errors, null, 1));
	check(log.runs.length === 1, "GitHub takes one run of a tool");
	for (const run of log.runs) {
		const rules = run.tool.driver.rules;
		check(new Set(rules.map(rule => rule.id)).size === rules.length, "ids of rules are not unique");
		for (const rule of rules)
			check(/^[A-Z][A-Za-z]+$/.test(rule.name) && rule.shortDescription.text.endsWith(".") && rule.help.text.length > 20,
				"rule " + rule.id);
		for (const result of run.results)
			checkResult(result, rules);
	}
}
process.exit(wrong ? 1 : 0);
