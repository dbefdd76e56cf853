// Prints, as JSON, what each server audit of graphql-http says about the endpoint whose URL is given.
import { serverAudits } from "graphql-http";

const [url] = process.argv.slice(2);
const results = [];
for (const audit of serverAudits({ url })) {
  const { id, name, status, reason } = await audit.fn();
  results.push({ id, name, status, reason: reason ?? null });
}
process.stdout.write(JSON.stringify(results));
