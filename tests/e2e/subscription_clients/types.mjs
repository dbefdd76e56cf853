// Generates TypeScript for our schema and the published subscription, with the scalars as the README maps them.
import { codegen } from "@graphql-codegen/core";
import * as operations from "@graphql-codegen/typescript-operations";
import * as typescript from "@graphql-codegen/typescript";
import { buildSchema, parse } from "graphql";
import { readFileSync } from "node:fs";

const [schemaFile, ...documentFiles] = process.argv.slice(2);
const text = (file) => readFileSync(file, "utf8");
const names = ["BigInt", "Decimal", "Digest", "DateTime", "Date", "URL", "LogCursor", "ManifestText"];
const scalars = { ...Object.fromEntries(names.map((name) => [name, "string"])), Position: "number" };
const output = await codegen({
  filename: "types.ts",
  schema: parse(text(schemaFile)),
  schemaAst: buildSchema(text(schemaFile)),
  documents: documentFiles.map((file) => ({ location: file, document: parse(text(file)) })),
  config: { scalars, strictScalars: true },
  plugins: [{ typescript: {} }, { operations: {} }],
  pluginMap: { typescript, operations },
});
process.stdout.write(output);
