// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// parquet-dump.js MODULES FILE... - what DuckDB reads of Parquet files, as JSON: for each the declaration that it carries, its columns
// with their types, and then a row a line, each value a text: of texts and bytes the hexadecimal digits, of times microseconds.
const { DuckDBInstance } = require(process.argv[2] + "/@duckdb/node-api");

const quoted = (s) => "'" + s.replaceAll("'", "''") + "'";
const named = (s) => '"' + s.replaceAll('"', '""') + '"';

function spelled(name, type) {
	const c = named(name);
	if (type === "VARCHAR") return `hex(encode(${c}))`;
	if (type === "BLOB") return `hex(${c})`;
	if (type.startsWith("TIMESTAMP")) return `epoch_us(${c})::VARCHAR`;
	return `${c}::VARCHAR`;
}

async function rows(c, sql) {
	return (await c.runAndReadAll(sql)).getRows();
}

async function main() {
	const c = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
	for (const file of process.argv.slice(3)) {
		const from = `read_parquet(${quoted(file)}, file_row_number = true, hive_partitioning = false)`;
		const columns = (await rows(c, `DESCRIBE SELECT * EXCLUDE (file_row_number) FROM ${from}`)).map((r) => [r[0], r[1]]);
		const notes = await rows(c, `SELECT decode(key), hex(value) FROM parquet_kv_metadata(${quoted(file)})`);
		process.stdout.write(JSON.stringify({ file, columns, notes: Object.fromEntries(notes) }) + "\n");
		const list = columns.map(([name, type]) => spelled(name, type)).join(", ");
		const all = await rows(c, `SELECT ${list} FROM ${from} ORDER BY file_row_number`);
		process.stdout.write(all.map((r) => JSON.stringify(r) + "\n").join(""));
	}
}

main().catch((e) => {
	console.error(e.message);
	process.exit(1);
});
